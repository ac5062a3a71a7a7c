"""Closes every descriptor, so that no answer can come, and stays."""

import os


def run_code():
    os.closerange(0, 256)
    while True:
        pass
