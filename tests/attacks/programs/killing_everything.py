"""Kills everything that it may signal. The test runs it where only witnesses can die."""

import os
import signal
import time


def run_code():
    for number in (signal.SIGTERM, signal.SIGKILL):
        for target in (-1, *range(2, 1000)):
            if target not in (os.getpid(), -os.getpid()):
                try:
                    os.kill(target, number)
                except OSError:
                    continue
    time.sleep(0.3)
    return [0.25, 0.25, 0.25, 0.25]
