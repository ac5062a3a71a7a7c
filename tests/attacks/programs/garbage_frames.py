"""Several threads write noise into the result pipe at once, and parts of frames."""

import os
import threading


def noise(descriptor):
    while True:
        try:
            os.write(descriptor, os.urandom(1000))
        except OSError:
            return


def run_code():
    for descriptor in range(3, 256):
        threading.Thread(target=noise, args=(descriptor,), daemon=True).start()
    while True:
        pass
