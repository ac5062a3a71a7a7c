"""Performance profiles by counting."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.statistics.profiles import TAUS, profile, shares
from analysis.statistics.scores import Scores


def test_shares_by_hand() -> None:
    scores = Scores.of({"a": [0.0, 50.0], "b": [100.0]})
    found = profile(scores, (0.0, 50.0, 50.1, 100.0, 120.0), tasks=False, repeats=200)
    assert found.share.tolist() == pytest.approx([1, 2 / 3, 1 / 3, 1 / 3, 0])
    assert (found.lo <= found.share).all()
    assert (found.share <= found.hi).all()
    assert found.lo[0] == found.hi[0] == 1.0


def test_profiles_fall_and_cover_the_range() -> None:
    scores = Scores.of({f"t{i}": [7.0 * i] for i in range(20)})
    found = profile(scores, tasks=True, repeats=500)
    assert found.taus == TAUS == tuple(map(float, range(121)))
    assert (np.diff(found.share) <= 0).all()
    assert found.share[-1] == pytest.approx(2 / 20)


def test_padding_is_not_counted() -> None:
    values = np.array([[[1.0, np.nan], [3.0, 4.0]]])
    assert shares(values, (2.0,)).tolist() == [[pytest.approx(2 / 3)]]
