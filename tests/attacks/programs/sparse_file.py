"""A file that claims to be a terabyte."""

import os


def run_code():
    with open("sparse", "wb") as file:
        os.truncate(file.fileno(), 1 << 40)
    return [0.25, 0.25, 0.25, 0.25]
