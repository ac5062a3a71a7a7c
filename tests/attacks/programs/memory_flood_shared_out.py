"""Stays below the limit of one process, but has many."""

import os
import time


def run_code():
    for _ in range(6):
        if os.fork() == 0:
            hoard = bytearray(os.urandom(1 << 20)) * 200
            time.sleep(60)
            return hoard[:4]
    time.sleep(60)
