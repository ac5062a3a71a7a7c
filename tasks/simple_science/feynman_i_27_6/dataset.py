"""The data set: reading its files, and rebuilding them from the state of the authors' generator.

SRSD-Feynman easy set, ``feynman-i.27.6``: Y. Matsubara, N. Chiba, R. Igarashi, Y. Ushiku, DMLR 2024
(arXiv:2206.10540), CC BY 4.0. Columns d1, n, d2 and f = 1/(1/d1 + n/d2), noise-free.
``data/generator_state.json`` holds the Mersenne Twister from which the published rows were drawn.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

GENERATOR_STATE = Path(__file__).parent / "data" / "generator_state.json"
N_ROWS = 10000
TRAIN, VAL, TEST = slice(0, 8000), slice(8000, 9000), slice(9000, N_ROWS)
LOG10_RANGES = ((-3, -1), (-1, 1), (-3, -1))  # of d1 (m), n and d2 (m)


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (rows x 3) and targets (rows) of one file."""
    rows = np.loadtxt(path, ndmin=2)
    return rows[:, :3], rows[:, 3]


def rebuild_train(target: Path) -> None:
    """Write the 8000 training rows as published, byte for byte."""
    _write(TRAIN, target)


def rebuild_val(target: Path) -> None:
    """Write the 1000 validation rows as published, byte for byte."""
    _write(VAL, target)


def rebuild_test(target: Path) -> None:
    """Write the 1000 test rows as published, byte for byte."""
    _write(TEST, target)


def _write(part: slice, target: Path) -> None:
    lines = [" ".join(f"{value:.18e}" for value in row) for row in _draw()[part]]
    target.write_text("\n".join(lines) + "\n", encoding="ascii", newline="\n")


def _draw() -> list[tuple[float, float, float, float]]:
    """All rows in the order of drawing: each variable in turn, log-uniform in its range."""
    state = json.loads(GENERATOR_STATE.read_text(encoding="utf-8"))
    generator = np.random.RandomState()
    generator.set_state((state["generator"], np.array(state["key"], np.uint32), state["position"]))
    columns = []
    for low, high in LOG10_RANGES:
        exponents = low + (high - low) * generator.random_sample(N_ROWS)
        # numpy's vectorised power differs from the C library's in the last bit on some processors
        columns.append([math.pow(10.0, exponent) for exponent in exponents.tolist()])
    return [(d1, n, d2, 1 / (1 / d1 + n / d2)) for d1, n, d2 in zip(*columns, strict=True)]
