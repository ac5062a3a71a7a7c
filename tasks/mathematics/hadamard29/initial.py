"""A 29 x 29 matrix of signs with a large determinant: quadratic residues, then annealing."""

# EVOLVE-BLOCK-START
import math
import random

import numpy as np

STEPS = 500
START_TEMPERATURE = 0.5
COOLING = 0.001


def construct_hadamard_matrix(n: int = 29) -> np.ndarray:
    """The best matrix of +1 and -1 found, of shape (n, n)."""
    return anneal(residue_circulant(n), random.Random(42))


def residue_circulant(n: int) -> np.ndarray:
    """+1 where row minus column is a non-zero quadratic residue modulo n, -1 elsewhere."""
    residues = [k * k % n for k in range(1, n)]
    index = np.arange(n)
    return np.where(np.isin((index[:, None] - index) % n, residues), 1, -1)


def anneal(matrix: np.ndarray, random_source: random.Random) -> np.ndarray:
    """Flip single entries, accept losses in proportion to |det|, and keep the best matrix."""
    n = len(matrix)
    current = matrix.copy()
    size = abs(exact_determinant(current))
    best, best_size = current.copy(), size
    for step in range(STEPS):
        row, column = random_source.randrange(n), random_source.randrange(n)
        current[row, column] *= -1
        new_size = abs(exact_determinant(current))
        temperature = START_TEMPERATURE / (1.0 + COOLING * step) * size
        loss = (new_size - size) / max(1.0, temperature)
        if new_size >= size or random_source.random() < math.exp(loss):
            size = new_size
            if size > best_size:
                best, best_size = current.copy(), size
        else:
            current[row, column] *= -1
    return best


def exact_determinant(matrix: np.ndarray) -> int:
    """Determinant of an integer matrix by fraction-free (Bareiss) elimination."""
    rows = matrix.tolist()
    sign, previous = 1, 1
    while len(rows) > 1:
        first = next((k for k, row in enumerate(rows) if row[0]), None)
        if first is None:
            return 0
        if first:
            rows[0], rows[first] = rows[first], rows[0]
            sign = -sign
        pivot, *top = rows[0]
        rows = [
            [(pivot * x - row[0] * t) // previous for x, t in zip(row[1:], top, strict=True)]
            for row in rows[1:]
        ]
        previous = pivot
    return sign * rows[0][0]


# EVOLVE-BLOCK-END


def run_code():
    """Return the matrix as the only item of a tuple."""
    return (construct_hadamard_matrix(),)
