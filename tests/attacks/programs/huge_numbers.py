"""A float near the largest, and an integer that takes for ever to print."""


def run_code():
    return [1e308, 1 << 10_000_000, 10**6000, 1.0]
