"""Recurses in C until the stack is gone."""

import sys


class Nested:
    def __getattr__(self, name):
        return getattr(self, name + "x")


def run_code():
    sys.setrecursionlimit(10**9)
    nested = []
    for _ in range(10**5):
        nested = [nested]
    repr(nested)
    return [0.25] * 4 if Nested().a else None
