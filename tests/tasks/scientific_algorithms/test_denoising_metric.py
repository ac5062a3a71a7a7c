"""The two losses: parity with recorded values, and properties that hold for any matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from shared_data import parity_files, read_case, shared_root

from benchmark.catalogue import find_task
from benchmark.evaluator import Invalid
from tasks.scientific_algorithms.denoising import metric
from tasks.scientific_algorithms.denoising.answers import checked
from tasks.scientific_algorithms.denoising.counts import thin
from tasks.scientific_algorithms.denoising.datasets import PUBLISHED, Dataset
from tasks.scientific_algorithms.denoising.metric import Constants, Losses, Quality, losses


def _cases(name: str) -> list[Any]:
    root = shared_root()
    if root is None:
        skip = pytest.mark.skip(reason="no shared folder (EVODUET_SHARED): parity cases not run")
        return [pytest.param(None, id="parity", marks=skip)]
    return [
        pytest.param(case, id=case["case"])
        for case in read_case(root / "parity" / "denoising" / name)
    ]


@pytest.mark.parametrize("path", parity_files("denoising", "tiny_*.json"))
def test_recorded_matrices(path: Any) -> None:
    content = read_case(path)
    with np.load(path.with_name(content["arrays_file"])) as archive:
        stored = {name: archive[name] for name in archive.files}
    train, test = thin(sparse.csr_array(stored["counts"]), content["split_seed"])
    np.testing.assert_array_equal(train.toarray(), stored["train"])
    np.testing.assert_array_equal(test.toarray(), stored["test"])
    known = {name: content["constants"][name] for name in Constants.__dataclass_fields__}
    measured = metric.measured_constants(train, test)
    assert vars(measured) == pytest.approx(known, rel=1e-12)
    constants = Constants(**known)
    zeros = losses(np.zeros(test.shape), test, float(train.sum()))
    dataset = Dataset(content["dataset"], train, test, constants, Quality(zeros, constants))
    for case in content["cases"]:
        _check_case(case, stored[case["array"]], dataset)


def _check_case(case: Any, answer: Any, dataset: Dataset) -> None:
    expected, name = case["expected"], case["case"]
    if "mse" not in expected:
        with pytest.raises(Invalid):
            checked(answer, dataset, strict=False)
        return
    matrix = checked(answer, dataset, strict=False)
    quality = Quality(losses(matrix, dataset.test, dataset.train_total), dataset.constants)
    tolerance = 1e-9 if matrix.dtype == np.float64 else 1e-5
    for label in ("mse_norm", "poisson_norm", "search_score", "heldout_score"):
        assert getattr(quality, label) == pytest.approx(
            expected[label], rel=tolerance, abs=tolerance
        ), (name, label)
    assert quality.losses.mse == pytest.approx(expected["mse"], rel=tolerance, abs=1e-30), name
    assert quality.losses.poisson == pytest.approx(expected["poisson"], rel=tolerance), name
    assert quality.passes_gate == expected["poisson_pass"], name
    assert quality.is_sane == expected["poisson_sane"] == expected["valid"], name


@pytest.mark.parametrize("case", _cases("normalise.json"))
def test_recorded_losses_on_the_published_scale(case: Any) -> None:
    given_, expected = case["input"], case["expected"]
    quality = Quality(Losses(given_["mse"], given_["poisson"]), PUBLISHED[given_["dataset"]])
    for label in ("mse_norm", "poisson_norm", "search_score", "heldout_score"):
        assert getattr(quality, label) == pytest.approx(expected[label], abs=1e-12)
    assert quality.passes_gate == expected["poisson_pass"]
    assert quality.is_sane == expected["poisson_sane"]


def test_recorded_means_are_the_anchors() -> None:
    """The mean of the two recorded scores is the objective, to the last digit."""
    initial = [
        Quality(Losses(0.18812379376188382, 0.04933668651623115), PUBLISHED["pbmc"]),
        Quality(Losses(0.1837401975828778, 0.02970277388080289), PUBLISHED["tabula"]),
    ]
    mean = sum(quality.heldout_score for quality in initial) / 2
    assert mean == pytest.approx(find_task("denoising").declared.anchors.initial.value, abs=1e-12)


@pytest.mark.parametrize(
    "values", [(float("nan"), 0.05), (0.1, float("inf")), (-1e-9, 0.05), (0.1, -0.05)]
)
def test_impossible_losses_are_not_sane(values: tuple[float, float]) -> None:
    quality = Quality(Losses(*values), PUBLISHED["pbmc"])
    assert not quality.is_sane
    assert quality.search_score == quality.heldout_score == 0.0


SIZES = st.tuples(st.integers(2, 9), st.integers(2, 9))


@st.composite
def splits(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """A denoised matrix, test counts and training counts of one shape."""
    shape = draw(SIZES)
    answer = draw(arrays(np.float64, shape, elements=st.floats(0, 50, width=32)))
    test = draw(arrays(np.int64, shape, elements=st.integers(0, 20)))
    train = draw(arrays(np.int64, shape, elements=st.integers(0, 90)))
    train[0, 0] += 1
    return answer, test.astype(float), train.astype(float)


def _reference(answer: Any, test: Any, train_total: float) -> Losses:
    """The formulas on whole matrices, without blocks."""

    def scaled(matrix: Any) -> Any:
        depth = matrix.sum(axis=1, keepdims=True) / 1e4
        return np.log1p(np.divide(matrix, depth, out=np.zeros_like(matrix), where=depth > 0))

    poisson = test - answer * test.sum() / train_total * np.log(test + 1e-6)
    return Losses(float(np.mean((scaled(test) - scaled(answer)) ** 2)), float(np.mean(poisson)))


@given(splits(), st.integers(1, 30))
@settings(deadline=None)
def test_blocks_and_sparse_rows_change_nothing(matrices: Any, block: int) -> None:
    answer, test, train = matrices
    expected = _reference(answer, test, train.sum())
    before = metric.BLOCK
    metric.BLOCK = block
    try:
        for kind in (np.asarray, sparse.csr_array):
            found = losses(kind(answer), kind(test), float(train.sum()))
            assert found.mse == pytest.approx(expected.mse, rel=1e-10, abs=1e-12)
            assert found.poisson == pytest.approx(expected.poisson, rel=1e-10, abs=1e-10)
    finally:
        metric.BLOCK = before


@given(splits(), st.floats(1e-6, 1e3))
@settings(deadline=None)
def test_mse_ignores_the_scale_of_cells_and_poisson_is_linear(matrices: Any, scale: float) -> None:
    answer, test, train = matrices
    answer = np.where(answer < 1e-3, 0.0, answer)
    total = float(train.sum())
    plain, scaled = losses(answer, test, total), losses(answer * scale, test, total)
    zero = losses(np.zeros_like(answer), test, total)
    assert scaled.mse == pytest.approx(plain.mse, rel=1e-9, abs=1e-12)
    expected = zero.poisson + scale * (plain.poisson - zero.poisson)
    size = abs(zero.poisson) + scale * abs(plain.poisson - zero.poisson)
    assert abs(scaled.poisson - expected) <= 1e-9 * max(1.0, size)


@given(splits())
@settings(deadline=None)
def test_the_test_counts_are_perfect(matrices: Any) -> None:
    _, test, train = matrices
    constants = metric.measured_constants(sparse.csr_array(train), sparse.csr_array(test))
    found = Quality(losses(test, test, float(train.sum())), constants)
    assert found.losses.mse == 0.0
    assert found.losses.poisson == constants.perfect_poisson


def test_the_inputs_are_left_alone() -> None:
    random = np.random.default_rng(3)
    answer, test = random.random((30, 20)), random.poisson(0.3, (30, 20)).astype(float)
    copies = answer.copy(), test.copy()
    losses(answer, test, 100.0)
    np.testing.assert_array_equal(answer, copies[0])
    np.testing.assert_array_equal(test, copies[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.uint8, ">f8", bool])
def test_other_number_types_count_as_float64(dtype: Any) -> None:
    random = np.random.default_rng(4)
    test = random.poisson(0.5, (20, 30)).astype(float)
    answer = random.poisson(2.0, (20, 30)).astype(dtype)
    assert losses(answer, test, 50.0) == losses(answer.astype(np.float64), test, 50.0)
