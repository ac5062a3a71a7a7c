"""Exact determinants of matrices of signs.

:func:`reduced_determinant` is fast: an n x n matrix of signs is 2**(n-1) times a smaller matrix of
zeros and ones, whose determinant is found modulo two primes and put together by the Chinese
remainder theorem. :func:`bareiss_determinant` works on the signs themselves in integers, where
every division is without remainder, and shares no step with it
(E. H. Bareiss, Math. Comp. 22 (1968) 565).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

PRIMES = (2**31 - 1, 2**31 - 19)
"""The two largest primes below 2**31: a product of two residues fits into 62 bits."""


def zero_one_matrix(signs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The (n-1, n-1) matrix of zeros and ones with abs(det(signs)) = 2**(n-1) abs(det(it)).

    Rows and columns change sign until the first row and column are +1; subtracting the first row
    from the others leaves entries 0 and -2.
    """
    signs = signs * signs[:, :1]
    signs = signs * signs[:1]
    return (1 - signs[1:, 1:]) >> 1


def reduced_determinant(signs: NDArray[np.int64]) -> int:
    """abs(det(signs)) / 2**(n-1), exactly, for an (n, n) matrix of +1 and -1.

    Raises ``ValueError`` for n > 37, where Hadamard's bound exceeds what two primes can tell.
    """
    n = len(signs)
    first, second = PRIMES
    if 4 * n**n >= ((first * second) << (n - 1)) ** 2:
        raise ValueError(f"a determinant of order {n} may be too large for two primes")
    matrix = zero_one_matrix(signs)
    residue, other = (modular_determinant(matrix, prime) for prime in PRIMES)
    value = residue + first * ((other - residue) * pow(first, -1, second) % second)
    return min(value, first * second - value)


def modular_determinant(matrix: NDArray[np.int64], prime: int) -> int:
    """det(matrix) modulo a prime below 2**31 by Gaussian elimination, in 0 .. prime - 1."""
    rest = matrix % prime
    determinant = 1
    while rest.size:
        column = rest[:, 0]
        pivot_row = int(column.argmax())
        pivot = int(column[pivot_row])
        if pivot == 0:
            return 0
        if pivot_row > 0:
            rest[[0, pivot_row]] = rest[[pivot_row, 0]]
            determinant = -determinant
        determinant = determinant * pivot % prime
        factors = rest[1:, 0] * pow(pivot, -1, prime) % prime
        rest = (rest[1:, 1:] - factors[:, None] * rest[0, 1:]) % prime
    return determinant % prime


def bareiss_determinant(matrix: Sequence[Sequence[int]]) -> int:
    """det(matrix) of a square matrix of integers by fraction-free elimination."""
    rest = [list(map(int, row)) for row in matrix]
    sign, previous = 1, 1
    while len(rest) > 1:
        pivot_row = next((k for k, row in enumerate(rest) if row[0]), None)
        if pivot_row is None:
            return 0
        if pivot_row > 0:
            rest[0], rest[pivot_row] = rest[pivot_row], rest[0]
            sign = -sign
        pivot, *top = rest[0]
        rest = [
            [
                (pivot * entry - row[0] * above) // previous
                for entry, above in zip(row[1:], top, strict=True)
            ]
            for row in rest[1:]
        ]
        previous = pivot
    return sign * rest[0][0] if rest else 1
