"""NDG by the paper's convention (specs/analysis.md section 1, specs/mathematics.md section 1)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.ndg import ndg


@pytest.mark.parametrize(
    ("objective", "x0", "sota", "printed"),
    [
        (1.7978, 3.158550461356723, 1.4536754655951831, 79.8),
        (1.4586, 3.158550461356723, 1.4536754655951831, 99.7),
        (2.0995, 1.3903167444732365, 2.6359830849210715, 56.9),
        (2.6367, 1.722893991149311, 2.9395727712101474, 75.1),
        (0.4946, 0.14327485380116958, 0.935672514619883, 44.3),
        (1.072913, 1.0597930945472454, 1.1448868597133133, 15.4),
        (1.5128, 1.5161677334429668, 1.5038708139324293, 27.3),
        (0.9253, 0.90504, 0.9626937749954642, 35.1),
    ],
)
def test_values_printed_in_the_paper(
    objective: float, x0: float, sota: float, printed: float
) -> None:
    assert ndg(objective, x0, sota).value == pytest.approx(printed, abs=0.11)


def test_floor_without_cap() -> None:
    assert ndg(1.0, 2.0, 3.0).value == 0.0
    assert ndg(1.0, 2.0, 3.0).raw == -100.0
    assert ndg(4.0, 2.0, 3.0).value == 200.0
    assert ndg(1.0, 3.0, 2.0).value == 200.0  # the same for a metric to be minimised


def test_invalid_counts_zero_and_has_no_raw_value() -> None:
    assert ndg(None, 1.0, 2.0) == ndg(None, 5.0, 3.0)
    assert ndg(None, 1.0, 2.0).value == 0.0
    assert ndg(None, 1.0, 2.0).raw is None


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_infinities_never_enter(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        ndg(bad, 1.0, 2.0)
    with pytest.raises(ValueError, match="finite"):
        ndg(1.0, bad, 2.0)
    with pytest.raises(ValueError, match="different"):
        ndg(1.0, 2.0, 2.0)


@given(
    st.floats(-1e6, 1e6), st.floats(-1e3, 1e3), st.floats(0.1, 1e3), st.sampled_from([-1.0, 1.0])
)
def test_direction_does_not_matter(gain: float, x0: float, gap: float, sign: float) -> None:
    up = ndg(x0 + gain, x0, x0 + gap)
    down = ndg(x0 - gain, x0, x0 - gap)
    assert up.value == pytest.approx(down.value, rel=1e-6, abs=1e-6)
    assert ndg(x0, x0, x0 + sign * gap).value == 0.0
    assert ndg(x0 + sign * gap, x0, x0 + sign * gap).value == 100.0
