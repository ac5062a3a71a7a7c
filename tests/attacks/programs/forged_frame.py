"""Writes a well-made frame with an impossible vector into every descriptor, then vanishes."""

import os
import sys

wire = sys.modules["wire"]
frame = wire.pack({"status": "returned", "values": [[1e9, 1e9, 1e9, 1e9]]})
for descriptor in range(3, 256):
    try:
        os.write(descriptor, frame)
    except OSError:
        pass
os._exit(0)
