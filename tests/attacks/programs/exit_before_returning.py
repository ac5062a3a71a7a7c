"""Ends the process without an answer."""

import os


def run_code():
    print('{"status": "valid", "search": 4.0}', flush=True)
    os._exit(0)
