"""Calls a listener of the test on loopback, by TCP and by UDP; it takes down who called."""

import socket

PORT = 1  # set by the test


def run_code():
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        for host in ("127.0.0.1", "localhost", "::1"):
            try:
                family = socket.AF_INET6 if ":" in host else socket.AF_INET
                with socket.socket(family, kind) as caller:
                    caller.settimeout(0.2)
                    caller.connect((host, PORT))
                    caller.send(b"secret")
            except OSError:
                continue
    return [0.25, 0.25, 0.25, 0.25]
