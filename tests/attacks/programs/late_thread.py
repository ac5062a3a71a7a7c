"""Returns, and goes on: a thread and an exit handler rewrite the answer and send another."""

import atexit
import os
import sys
import threading
import time

ANSWER = [0.25, 0.25, 0.25, 0.25]


def rewrite():
    frame = sys.modules["wire"].pack({"status": "returned", "values": [[1e9] * 4]})
    while True:
        time.sleep(0.01)
        if "returned" in os.environ:
            ANSWER[:] = [1e9] * 4
            for descriptor in range(3, 256):
                try:
                    os.write(descriptor, frame)
                except OSError:
                    pass


def run_code():
    threading.Thread(target=rewrite).start()
    atexit.register(rewrite)
    threading.Timer(0.2, os.environ.__setitem__, ("returned", "yes")).start()
    return ANSWER
