"""A failure whose reason is full of control characters, newlines and half a surrogate."""

import os
import sys

wire = sys.modules["wire"]
reason = "\x1b[2J\x1b]0;owned\x07\nvalid\nndg 100\ud800" * 1000
frame = wire.pack({"status": "invalid", "reason": reason})
for descriptor in range(3, 256):
    try:
        os.write(descriptor, frame)
    except OSError:
        pass
os._exit(0)
