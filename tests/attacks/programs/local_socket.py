"""Calls a listener of the test through a path and through an abstract name."""

import socket

PATH = ""  # set by the test
ABSTRACT = ""  # set by the test


def run_code():
    for address in (PATH, "\0" + ABSTRACT):
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
                caller.settimeout(0.2)
                caller.connect(address)
                caller.send(b"secret")
        except OSError:
            continue
    return [0.25, 0.25, 0.25, 0.25]
