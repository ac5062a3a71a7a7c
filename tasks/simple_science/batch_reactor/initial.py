"""Batch reactor: one constant temperature for the whole batch."""


# EVOLVE-BLOCK-START
def solve(payload):
    """Temperature in kelvin at every time of payload["time"]."""
    return {"temperature": [350.0] * len(payload["time"])}


# EVOLVE-BLOCK-END
