"""Infinity, also as a numpy scalar."""

import numpy as np


def run_code():
    return [np.float64("inf"), 1.0, 1.0, 1.0]
