"""Every process becomes two, each in a session of its own."""

import os
import time

# Should the sandbox be broken, the storm is over before the machine is.
END = time.monotonic() + 4.0


def run_code():
    while time.monotonic() < END:
        try:
            if os.fork() == 0:
                os.setsid()
        except OSError:
            pass
    os._exit(1)
