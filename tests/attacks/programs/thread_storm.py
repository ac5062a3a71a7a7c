"""Threads without end."""

import threading
import time


def run_code():
    while True:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
