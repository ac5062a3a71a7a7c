"""Determinant of a 29 x 29 matrix of signs (maximise abs(det) / D, exactly).

D = 2^28 * 7^12 * 342 is an upper bound for order 29 (of the kind in W. Orrick, math/0401179).
Every determinant is a multiple of 2^28, so the score is k / (342 * 7^12) with an integer k.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmark.artifact import Artifact
from benchmark.candidates import PythonConstruction
from benchmark.evaluator import Invalid, Score, Stage
from benchmark.side_by_side import Named, Shown, draw_panels, scores
from tasks.mathematics import pictures
from tasks.mathematics.determinant import bareiss_determinant, reduced_determinant
from tasks.mathematics.matrix import real_matrix
from tasks.mathematics.returned import split_tuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ORDER = 29
UNIT = 2 ** (ORDER - 1)
LARGEST_K = 342 * 7**12


class MaximalDeterminant(PythonConstruction):
    """``run_code()`` returns the matrix, bare or as the first item of a tuple."""

    def convert(self, returned: Any) -> Artifact:
        """The matrix as integers; raises :class:`Invalid` unless all entries are signs."""
        construction, _ = split_tuple(returned, rows=ORDER)
        return Artifact(sign_matrix(construction))

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        """The exact determinant over D. A singular matrix is valid and scores 0."""
        signs = sign_matrix(artifact.construction)
        k = reduced_determinant(signs)
        ratio = k / LARGEST_K
        # a multiple of 2^28 with fewer than 43 further bits: exact as a double
        metrics = {"determinant_ratio": ratio, "abs_det": float(k * UNIT)}
        return Score(ratio, ratio, metrics, describe_rows(signs, k))

    def certify(self, artifact: Artifact) -> dict[str, str]:
        """The determinant again, by fraction-free elimination of the matrix itself."""
        signs = sign_matrix(artifact.construction)
        determinant = bareiss_determinant(signs.tolist())
        k = reduced_determinant(signs)
        if abs(determinant) != k * UNIT:
            raise ArithmeticError(f"two exact determinants differ: {determinant} and {k} * 2^28")
        return {
            "determinant": str(determinant),
            "abs_det": f"{k} * 2^28",
            "determinant_ratio": f"{k}/(342 * 7^12) = {Fraction(k, LARGEST_K)}",
        }

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        """The matrix beside the scalar products of its rows."""
        pictures.draw_signs(sign_matrix(artifact.construction), figure)

    def draw_together(self, found: Sequence[Named], figure: Figure) -> Shown:
        """The matrices and their Gram matrices below each other."""
        figure.set_size_inches(7.0, 3.5 * len(found))
        draw_panels(self, found, figure, below=True)
        return scores(found)


def sign_matrix(value: Any) -> NDArray[np.int64]:
    """``value`` as a (29, 29) array of +1 and -1; raises :class:`Invalid` for anything else."""
    matrix = real_matrix(value, ORDER, ORDER, "matrix")
    wrong = np.argwhere(np.abs(matrix) != 1.0)  # NaN differs from everything
    if len(wrong):
        row, column = wrong[0]
        raise Invalid(
            f"entry ({row}, {column}) is {matrix[row, column]:.17g}; entries must be +1 or -1 "
            f"({len(wrong)} are not)"
        )
    return matrix.astype(np.int64)


def describe_rows(signs: NDArray[np.int64], k: int) -> str:
    """How far the rows are from orthogonal, the only thing that keeps a determinant small."""
    products = np.abs(signs @ signs.T)[np.triu_indices(ORDER, 1)]
    counts = sorted(Counter(products.tolist()).items())
    spread = ", ".join(f"{size}: {count}" for size, count in counts)
    return f"abs(det) = {k} * 2^28; pairs of rows by size of their scalar product: {spread}"


EVALUATOR = MaximalDeterminant
