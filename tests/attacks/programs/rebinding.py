"""Rebinds numpy and builtins: it changes the candidate's process, where nothing is checked."""

import builtins
import json
import math

import numpy as np

np.isfinite = lambda *_, **__: np.True_
np.all = np.any = lambda *_, **__: True
math.isfinite = lambda _: True
math.fsum = lambda _: 1e9
builtins.isinstance = lambda *_: True
builtins.len = lambda _: 4
builtins.float = lambda _: 1e9
json.dumps = lambda *_, **__: '{"status": "valid", "search": 1e9}'


def run_code():
    return [float("nan"), 1e9, 1e9, 1e9]
