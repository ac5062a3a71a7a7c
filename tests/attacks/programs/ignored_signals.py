"""Ignores every signal there is, forks, sleeps for ever."""

import os
import signal
import time


def run_code():
    for number in range(1, signal.NSIG):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    os.fork()
    while True:
        try:
            time.sleep(3600)
        except BaseException:
            continue
