"""Announces a frame, sends half of it, and keeps everybody waiting."""

import os
import struct
import time


def run_code():
    for descriptor in range(3, 256):
        try:
            os.write(descriptor, struct.pack("<QQ", 1000, 0) + b'{"v":')
        except OSError:
            continue
    time.sleep(60)
