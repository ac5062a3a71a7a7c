"""What must hold for every packing, sign matrix and set of integers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from shared_data import evaluator_for

from benchmark import Artifact, Score
from tasks.mathematics.determinant import (
    PRIMES,
    bareiss_determinant,
    modular_determinant,
    reduced_determinant,
    zero_one_matrix,
)
from tasks.mathematics.exact_packing import ExactPacking, round_down
from tasks.mathematics.packing import feasible_gaps, strict_sum
from tasks.mathematics.sumset import bitset_sizes, listed_sizes, sumset_sizes, table_sizes

unhurried = settings(deadline=None)  # the machine may be busy
EVALUATORS = {task: evaluator_for(task) for task in ("cp26", "hadamard29", "sums_diffs")}


def score(task: str, construction: object) -> Score:
    return EVALUATORS[task].score(Artifact(construction), "search")  # type: ignore[arg-type]


def seeded(draw: st.DrawFn) -> np.random.Generator:
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1)))


# --- circle packings -----------------------------------------------------------------------------


@st.composite
def packings(draw: st.DrawFn) -> np.ndarray:
    """26 circles, many of them touching up to the tolerance; some are points."""
    generator = seeded(draw)
    # multiples of 2^-50: reflections in the square are then exact in doubles
    centres = generator.integers(1, 2**50, size=(26, 2)) / 2**50
    if draw(st.booleans()):
        centres = np.round(centres * 8) / 8  # coincident points, points on walls
    excess = draw(st.sampled_from([0.0, 4e-13, -1e-10]))
    radii = np.zeros(26)
    for i in generator.permutation(26):
        others = np.hypot(*(centres - centres[i]).T) - radii
        others[i] = np.inf
        room = min(others.min(), *centres[i], *(1.0 - centres[i]))
        if room > 0.0 and generator.random() < 0.8:
            radii[i] = np.floor(max(room + excess, 0.0) * 2**50) / 2**50
    return np.column_stack([centres, radii])


def symmetries(circles: np.ndarray) -> list[np.ndarray]:
    """The packing under the eight symmetries of the square."""
    x, y, radius = circles.T
    images = [np.column_stack([u, v, radius]) for u, v in product((x, 1.0 - x), (y, 1.0 - y))]
    return images + [image[:, [1, 0, 2]] for image in images]


@unhurried
@given(packings(), st.permutations(range(26)))
def test_packing_score_survives_symmetries_and_order(circles: np.ndarray, order: list[int]) -> None:
    expected = score("cp26", circles)
    for image in symmetries(circles):
        found = score("cp26", image[order])
        assert found.metrics == expected.metrics
        assert found.objective == expected.objective == math.fsum(circles[:, 2])


@unhurried
@given(packings())
def test_strict_sum_is_reached_by_a_strictly_feasible_packing(circles: np.ndarray) -> None:
    strict = strict_sum(circles, feasible_gaps(circles))
    assert strict is not None
    packing = ExactPacking(circles)
    pairs = list(combinations(range(26), 2))
    walls = list(product(range(4), range(26)))
    twice = packing.twice_reduction(pairs, walls)
    assert strict == round_down(packing.total(twice))

    # the same in rationals, from the rule and without the code under test
    reduction = Fraction(twice, 2 * packing.unit)
    rows = [tuple(map(Fraction, row)) for row in circles.tolist()]

    def feasible(reduction: Fraction) -> bool:
        radii = [max(radius - reduction, Fraction(0)) for _, _, radius in rows]
        inside = all(
            r <= centre <= 1 - r
            for (x, y, _), r in zip(rows, radii, strict=True)
            for centre in (x, y)
        )
        return inside and all(
            (radii[i] + radii[j]) ** 2
            <= (rows[i][0] - rows[j][0]) ** 2 + (rows[i][1] - rows[j][1]) ** 2
            for i, j in pairs
        )

    assert feasible(reduction)
    if reduction > 0:
        assert not feasible(reduction - Fraction(1, packing.unit))


@unhurried
@given(st.fractions(0, 8, max_denominator=10**40))
def test_rounding_down(value: Fraction) -> None:
    rounded = round_down(value)
    assert rounded <= value < math.nextafter(rounded, math.inf)


# --- matrices of signs ---------------------------------------------------------------------------


@st.composite
def sign_matrices(draw: st.DrawFn, smallest: int = 1, largest: int = 37) -> np.ndarray:
    """Random signs; now and then nearly or fully singular."""
    n = draw(st.integers(smallest, largest))
    matrix = seeded(draw).choice(np.array([-1, 1], dtype=np.int64), size=(n, n))
    kind = draw(st.sampled_from(["random", "equal rows", "few minus ones"]))
    if kind == "equal rows" and n > 1:
        matrix[-1] = matrix[0]
    if kind == "few minus ones":
        matrix = np.ones((n, n), dtype=np.int64) - 2 * np.eye(n, dtype=np.int64)
    return matrix


@unhurried
@given(sign_matrices())
def test_two_primes_agree_with_fraction_free_elimination(matrix: np.ndarray) -> None:
    n = len(matrix)
    determinant = bareiss_determinant(matrix.tolist())
    assert reduced_determinant(matrix) << (n - 1) == abs(determinant)
    for prime in PRIMES:
        assert modular_determinant(matrix, prime) == determinant % prime


@unhurried
@given(sign_matrices(smallest=2, largest=12))
def test_reduction_to_zeros_and_ones(matrix: np.ndarray) -> None:
    smaller = zero_one_matrix(matrix)
    assert smaller.shape == (len(matrix) - 1,) * 2
    assert set(smaller.ravel().tolist()) <= {0, 1}
    exact = bareiss_determinant(smaller.tolist())
    assert abs(exact) << (len(matrix) - 1) == abs(bareiss_determinant(matrix.tolist()))


@unhurried
@given(arrays(np.int64, (5, 5), elements=st.integers(-3, 3)))
def test_fraction_free_elimination_of_small_integers(matrix: np.ndarray) -> None:
    assert bareiss_determinant(matrix.tolist()) == round(np.linalg.det(matrix))


def test_orders_beyond_two_primes_are_refused() -> None:
    with pytest.raises(ValueError, match="order 38"):
        reduced_determinant(np.ones((38, 38), dtype=np.int64))


@unhurried
@given(
    sign_matrices(smallest=29, largest=29),
    st.permutations(range(29)),
    st.permutations(range(29)),
    arrays(np.int64, (2, 29), elements=st.sampled_from([-1, 1])),
)
def test_determinant_score_survives_permutations_and_sign_changes(
    matrix: np.ndarray, rows: list[int], columns: list[int], signs: np.ndarray
) -> None:
    expected = score("hadamard29", matrix)
    image = matrix[rows][:, columns] * signs[0][:, None] * signs[1]
    for changed in (image, image.T, image.astype(float)):
        found = score("hadamard29", changed.tolist())
        assert (found.objective, found.metrics) == (expected.objective, expected.metrics)


# --- sums and differences ------------------------------------------------------------------------


@st.composite
def integer_sets(draw: st.DrawFn) -> list[int]:
    """2 to 60 integers with spans from tight to full range."""
    span = draw(st.sampled_from([80, 1000, 49_999, 50_000, 60_000, 2_000_000]))
    start = draw(st.integers(-1_000_000, 1_000_000 - span))
    inside = st.integers(start, start + span)
    values = draw(st.sets(inside, max_size=58))
    ends = {start, start + span}
    return sorted(values | ends)


@unhurried
@given(integer_sets())
def test_bits_tables_and_listing_agree(elements: list[int]) -> None:
    expected = listed_sizes(elements)
    assert bitset_sizes(elements) == expected
    assert table_sizes(elements) == expected
    assert sumset_sizes(elements) == expected


@unhurried
@given(
    st.sets(st.integers(-500, 500), min_size=2, max_size=60),
    st.integers(-1000, 1000).filter(bool),
    st.integers(-500_000, 500_000),
)
def test_score_of_a_set_survives_affine_maps(elements: set[int], factor: int, shift: int) -> None:
    expected = score("sums_diffs", sorted(elements))
    image = [factor * element + shift for element in elements]
    found = score("sums_diffs", image)
    assert (found.objective, found.metrics) == (expected.objective, expected.metrics)
    assert score("sums_diffs", np.array(image + image)) == found


@unhurried
@given(st.sets(st.integers(-2000, 2000), min_size=2, max_size=40))
def test_c_value_keeps_its_bounds(elements: set[int]) -> None:
    # log|A+A|/|A| <= 2 log|A-A|/|A| by the Pluennecke-Ruzsa inequality, and the other way round
    found = score("sums_diffs", sorted(elements))
    assert 0.5 - 1e-12 <= found.objective <= 2.0 + 1e-12
