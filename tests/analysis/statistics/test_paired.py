"""Paired tests by hand."""

from __future__ import annotations

import pytest

from analysis.statistics.paired import holm, paired_test


def test_small_samples_by_hand() -> None:
    found = paired_test([1.0, 2.0, 3.0, 4.0, 5.0, 0.0])
    assert (found.n_up, found.n_down, found.n_equal) == (5, 0, 1)
    assert found.wilcoxon_p == pytest.approx(2 / 2**5)
    assert found.sign_p == pytest.approx(2 / 2**5)


def test_sizes_matter_to_wilcoxon_and_not_to_the_sign_test() -> None:
    found = paired_test([-1.0, 2.0, 3.0, 4.0])
    # Rank sums of the negative side of at most 1: none or {1}; two of 16 sign patterns, twice.
    assert found.wilcoxon_p == pytest.approx(4 / 16)
    assert found.sign_p == pytest.approx(10 / 16)


def test_no_differences_are_no_evidence() -> None:
    found = paired_test([0.0, 1e-12, -1e-12])
    assert (found.n_equal, found.wilcoxon_p, found.sign_p) == (3, 1.0, 1.0)
    assert paired_test([]).sign_p == 1.0


def test_order_and_rounding_noise_do_not_matter() -> None:
    one = paired_test([0.1 + 0.2, -0.3, 0.5, 0.7, -0.9])
    assert one == paired_test([-0.9, 0.7, 0.5, -0.3, 0.3])


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([]) == []
