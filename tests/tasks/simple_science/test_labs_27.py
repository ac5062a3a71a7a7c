"""LABS: parity, the skew-symmetric optimum, symmetries of the energy, the NDG scale."""

from __future__ import annotations

import itertools
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.patches import Rectangle
from simple_science_cases import Vector, drawn, program_returning, scored, vectors, verdict

from benchmark import evaluate
from benchmark.catalogue import find_task
from benchmark.evaluator import Invalid
from benchmark.ndg import ndg

TASK = "labs_27"
RUNS = "34313131211211"  # lengths of the runs of equal signs (Packebusch and Mertens, Table 1)
OPTIMUM = [(-1) ** run for run, length in enumerate(RUNS) for _ in range(int(length))]
SEQUENCES = st.lists(st.sampled_from((-1, 1)), min_size=27, max_size=27)


def energy(sequence: list[int]) -> float:
    return scored(TASK, sequence).metrics["energy"]


@pytest.mark.parametrize("vector", vectors(TASK))
def test_parity(vector: Vector) -> None:
    vector.check(verdict(TASK, vector.answer))


@pytest.mark.parametrize("vector", vectors(TASK, "floats_accepted", "bools", "string"))
def test_parity_of_programs(vector: Vector, tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(vector.answer)))
    assert result.status == ("valid" if vector.valid else "invalid")
    assert result.search == (pytest.approx(vector.score, rel=1e-9) if vector.valid else None)


def test_initial_program_is_x0() -> None:
    result = evaluate(TASK, find_task(TASK).initial_program)
    assert result.metrics["energy"] == 177
    assert result.search == result.objective == pytest.approx(0.20903954802259886, rel=1e-9)
    assert result.ndg == pytest.approx(0, abs=1e-6)


def test_published_optimum_scores_one() -> None:
    score = scored(TASK, OPTIMUM)
    assert score.search == 1.0
    assert score.metrics == {"energy": 37.0, "merit_factor": pytest.approx(9.851, abs=5e-4)}


def test_search_of_all_skew_symmetric_sequences_finds_nothing_lower() -> None:
    # s(14 + k) = (-1)^k s(14 - k): the first fourteen signs decide the other thirteen
    half = np.array(list(itertools.product((-1, 1), repeat=14)))
    whole = np.concatenate([half, half[:, -2::-1] * (-1) ** np.arange(1, 14)], axis=1)
    energies = sum((whole[:, lag:] * whole[:, : 27 - lag]).sum(axis=1) ** 2 for lag in range(1, 27))
    assert energies.min() == 37
    best = whole[energies.argmin()]
    assert scored(TASK, best).search == 1.0
    worst = whole[energies.argmax()]
    assert energy(worst.tolist()) == energies.max()


@settings(deadline=None)
@given(SEQUENCES)
def test_energy_is_the_power_spectrum_and_keeps_its_symmetries(sequence: list[int]) -> None:
    value = energy(sequence)
    spectrum = np.abs(np.fft.fft(sequence, 64)) ** 2  # mean of the squares: 27^2 + 2 E
    assert value == pytest.approx(((spectrum**2).mean() - 27**2) / 2)
    assert value >= 37
    assert value % 4 == 1
    for image in (
        [-sign for sign in sequence],
        sequence[::-1],
        [sign * (-1) ** place for place, sign in enumerate(sequence)],
    ):
        assert energy(image) == value


def test_energies_on_the_common_scale() -> None:
    anchors = find_task(TASK).declared.anchors

    def gain(level: int) -> float:
        found = ndg(37 / level, anchors.initial.value, anchors.sota.value).value
        assert found is not None
        return found

    printed = {53: 61.833, 57: 55.64, 61: 50.26, 65: 45.54, 69: 41.37, 73: 37.652}
    assert {level: gain(level) for level in printed} == pytest.approx(printed, abs=6e-3)
    runs = [gain(37), gain(37), gain(53), gain(73)]
    assert statistics.mean(runs) == pytest.approx(74.87, abs=5e-3)
    assert statistics.stdev(runs) == pytest.approx(30.65, abs=5e-3)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (OPTIMUM[:26], "27 entries; got 26"),
        ([*OPTIMUM, 1], "27 entries; got 28"),
        ([0, *OPTIMUM[1:]], r"entry 0 of the answer must be -1 or \+1; got 0"),
        ([*OPTIMUM[:26], 1.0000000000000002], "entry 26"),
        ([True, *OPTIMUM[1:]], "must be a number; got bool"),
        (["1", *OPTIMUM[1:]], "must be a number; got str"),
        (["+"] * 27, "must be a number"),
        (np.array(OPTIMUM) > 0, "must be a number; got bool"),
        (set(OPTIMUM), "set"),
        ({"construction": OPTIMUM}, "must be a list"),
        (None, "must be a list"),
    ],
)
def test_reasons_name_the_broken_rule(answer: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        scored(TASK, answer)


def test_arrays_and_tuples_score_like_lists(tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, f"np.array({OPTIMUM}, dtype=np.int8)"))
    assert result.ndg == pytest.approx(100)
    assert scored(TASK, tuple(OPTIMUM)) == scored(TASK, OPTIMUM)


def test_picture_shows_signs_and_autocorrelations() -> None:
    above, below = drawn(TASK, OPTIMUM).axes
    heights = [bar.get_height() for bar in above.patches if isinstance(bar, Rectangle)]
    assert heights == OPTIMUM
    assert sum(bar.get_height() ** 2 for bar in below.patches if isinstance(bar, Rectangle)) == 37
