"""Where the matrices come from: simulation, thinning, loaders, and the acceptance test."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from shared_data import read_case

from benchmark import evaluate
from benchmark.catalogue import find_task
from benchmark.checksums import array_digests
from benchmark.evaluator import Unavailable
from tasks.scientific_algorithms.denoising import datasets, loaders, metric, simulate
from tasks.scientific_algorithms.denoising.counts import (
    filtered,
    read_counts,
    thin,
    whole_numbers,
    write_counts,
)
from tasks.scientific_algorithms.denoising.datasets import Dataset

SIMULATED = ("sim_search", "sim_heldout_a", "sim_heldout_b")
COUNTS = arrays(
    np.int64,
    st.tuples(st.integers(3, 12), st.integers(3, 12)),
    elements=st.integers(0, 6) | st.sampled_from([0, 0, 0, 40, 700]),
)


@pytest.mark.parametrize("name", SIMULATED)
def test_generator_makes_the_stored_sets(name: str, tmp_path: Path, shared: Path) -> None:
    made = tmp_path / f"{name}.npz"
    getattr(simulate, name)(made)
    stored = shared / "data" / "denoising" / f"{name}_counts.npz"
    assert array_digests(made) == array_digests(stored)
    declared = {file.name: file for file in find_task("denoising").declared.data}[f"{name}.npz"]
    assert declared.check is not None
    assert declared.check.arrays == array_digests(stored)
    assert declared.rebuild is not None


def test_recorded_splits_and_constants(shared: Path) -> None:
    for case in read_case(shared / "parity" / "denoising" / "initial_program.json"):
        name, expected = case["input"]["dataset"], case["split"]
        counts = read_counts(shared / "data" / "denoising" / f"{name}_counts.npz")
        dataset = datasets.split(name, counts)
        for part in ("train", "test"):
            matrix = getattr(dataset, part).toarray().astype(np.float64)
            assert list(matrix.shape) == expected["shape"]
            assert matrix.sum() == expected[f"{part}_sum"]
            digest = hashlib.sha256(np.ascontiguousarray(matrix).tobytes()).hexdigest()
            assert digest == expected[f"{part}_sha256_float64_C"]
        known = {key: value for key, value in case["constants"].items() if key != "perfect_mse"}
        assert vars(dataset.constants) == pytest.approx(known, rel=1e-9)
        _check_landmarks(case, dataset)


def _check_landmarks(case: Any, dataset: Dataset) -> None:
    """What no denoising, perfection and an empty answer score."""
    answers = {
        "no_denoising": dataset.train,
        "perfect": dataset.test,
        "all_zero": np.zeros(dataset.test.shape),
    }
    for label, answer in answers.items():
        found = metric.losses(answer, dataset.test, dataset.train_total)
        quality = metric.Quality(found, dataset.constants)
        expected = case[label]
        assert quality.is_sane == expected["poisson_sane"]
        assert quality.passes_gate == expected["poisson_pass"]
        for score in ("mse_norm", "poisson_norm", "search_score", "heldout_score"):
            assert getattr(quality, score) == pytest.approx(expected[score], abs=1e-9), label
    assert dataset.all_zero.search_score == pytest.approx(case["all_zero"]["search_score"])


@given(COUNTS, st.integers(0, 1000), st.integers(1, 40))
@settings(deadline=None)
def test_thinning_equals_one_dense_draw(matrix: Any, seed: int, block: int) -> None:
    dense = filtered(sparse.csr_array(matrix)).toarray()
    if dense.size == 0:
        return
    expected = np.random.RandomState(seed).binomial(dense, 0.9)
    measured = expected.sum(axis=0) > 0
    before = metric.BLOCK
    metric.BLOCK = block
    try:
        train, test = thin(sparse.csr_array(matrix), seed)
    finally:
        metric.BLOCK = before
    np.testing.assert_array_equal(train.toarray(), expected[:, measured])
    np.testing.assert_array_equal(test.toarray(), (dense - expected)[:, measured])


@given(COUNTS)
@settings(deadline=None)
def test_filter_drops_unseen_genes_and_then_nearly_empty_cells(matrix: Any) -> None:
    kept = filtered(sparse.csr_array(matrix)).toarray()
    genes = matrix[:, matrix.sum(axis=0) > 0]
    np.testing.assert_array_equal(kept, genes[genes.sum(axis=1) >= 2])


@given(matrix=COUNTS)
@settings(deadline=None)
def test_counts_survive_their_file(matrix: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "counts.npz"
    write_counts(path, sparse.csr_array(matrix))
    np.testing.assert_array_equal(read_counts(path).toarray(), matrix)


def test_files_that_hold_no_counts(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="no count matrix"):
        read_counts(path)
    np.savez(path, data=[1, 2], indices=[0, 9], indptr=[0, 1, 2], shape=[2, 3])
    with pytest.raises(ValueError, match="no count matrix"):
        read_counts(path)
    np.savez(path, data=np.array([{}, {}]), indices=[0, 1], indptr=[0, 1, 2], shape=[2, 3])
    with pytest.raises(ValueError, match="no count matrix"):
        read_counts(path)


@pytest.mark.parametrize("values", [[0.5, 1.0], [-1.0, 1.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_only_whole_numbers_are_counts(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"counts|fractions"):
        whole_numbers(sparse.csr_array(np.array([values, [1.0, 2.0]])), "x")


def test_another_matrix_is_refused(simulated: Callable[[str], Dataset]) -> None:
    """The acceptance test: each constant, and the rounding of the published ones."""
    dataset = simulated("sim_search")
    found = dataset.constants
    for label in vars(found):
        value = getattr(found, label)
        for shift, accepted in ((4e-7, True), (-4e-7, True), (6e-7, False), (-6e-7, False)):
            wanted = replace(found, **{label: value + shift})
            if accepted:
                datasets.require_constants("pancreas", found, wanted, datasets.ACCEPTED)
                continue
            with pytest.raises(ValueError, match=label):
                datasets.require_constants("pancreas", found, wanted, datasets.ACCEPTED)
    nan = replace(found, baseline_mse=float("nan"))
    with pytest.raises(ValueError, match="baseline_mse"):
        datasets.require_constants("pancreas", nan, found, datasets.ACCEPTED)


def test_wrong_official_matrix_makes_the_task_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pancreas.npz"
    write_counts(path, simulate.simulate(simulate.RECIPES["sim_search"]))
    monkeypatch.setattr(datasets, "data_file", lambda setup, name: path)
    program = tmp_path / "candidate.py"
    program.write_text("def magic_denoise(X, **kwargs): return X\n")
    evaluation = evaluate("denoising", program, variant="official")
    assert evaluation.status == "unavailable"
    assert "not the data set" in evaluation.reason


def test_official_constants_are_used_as_published(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores use the rounded constants, not those measured on the copy."""
    counts = simulate.simulate(simulate.RECIPES["sim_search"])
    exact = datasets.SIMULATED["sim_search"]
    rounded = metric.Constants(**{name: round(value, 6) for name, value in vars(exact).items()})
    monkeypatch.setattr(datasets, "PUBLISHED", {"pancreas": rounded})
    assert datasets.split("pancreas", counts).constants == rounded


# --- loaders of the official files, on small files of the same form ------------------------------


def _cells(matrix: Any, **obs: list[str]) -> Any:
    anndata = pytest.importorskip("anndata")
    import pandas

    names = [f"gene{i}" for i in range(matrix.shape[1])]
    return anndata.AnnData(
        sparse.csr_matrix(matrix),
        obs=pandas.DataFrame(obs, index=[f"cell{i}" for i in range(len(matrix))]),
        var=pandas.DataFrame(index=names),
    )


@pytest.mark.filterwarnings("ignore")
def test_pancreas_loader(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    counts = random.poisson(1.0, (6, 5)).astype(np.float32)
    cells = _cells(np.log1p(counts), tech=["inDrop1", "celseq", "inDrop1", "inDrop2"] + ["x"] * 2)
    cells.layers["counts"] = sparse.csr_matrix(counts)
    cells.write_h5ad(tmp_path / "islets.h5ad")
    found = loaders.pancreas_counts(tmp_path / "islets.h5ad")
    np.testing.assert_array_equal(found.toarray(), counts[[0, 2]])


@pytest.mark.filterwarnings("ignore")
def test_pbmc_loader_wants_counts(tmp_path: Path) -> None:
    counts = np.random.default_rng(2).poisson(1.0, (4, 5)).astype(np.float32)
    _cells(counts).write_h5ad(tmp_path / "pbmc.h5ad")
    np.testing.assert_array_equal(loaders.pbmc_counts(tmp_path / "pbmc.h5ad").toarray(), counts)
    _cells(np.log1p(counts)).write_h5ad(tmp_path / "pbmc.h5ad")
    with pytest.raises(ValueError, match="fractions"):
        loaders.pbmc_counts(tmp_path / "pbmc.h5ad")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", ["raw", "layer", "X"])
def test_tabula_loader(place: str, tmp_path: Path) -> None:
    """Filtered on X, then raw counts, cells of all files below each other."""
    random = np.random.default_rng(3)
    counts = [random.poisson(2.0, (n, 6)).astype(np.float32) + 1 for n in (4, 3)]
    paths = []
    for number, matrix in enumerate(counts):
        shown = matrix.copy() if place == "X" else np.log1p(matrix)
        shown[:, 2] = 0  # a gene that X does not show
        shown[1, :] = 0  # a cell that X does not show
        cells = _cells(matrix) if place == "raw" else _cells(shown)
        if place == "raw":
            cells.raw = cells.copy()
            cells.X = sparse.csr_matrix(shown)
        elif place == "layer":
            cells.layers["raw"] = sparse.csr_matrix(matrix)
        cells.obs_names = [f"{number}-{name}" for name in cells.obs_names]
        paths.append(tmp_path / f"{number}.h5ad")
        cells.write_h5ad(paths[-1])
    found = loaders.tabula_counts(paths).toarray()
    expected = np.vstack([np.delete(np.delete(matrix, 2, 1), 1, 0) for matrix in counts])
    np.testing.assert_array_equal(found, expected)


def _listing() -> dict[str, Any]:
    def dataset(number: int, assays: list[str], tissues: list[str]) -> dict[str, Any]:
        return {
            "dataset_id": str(number),
            "assay": [{"label": label, "ontology_term_id": "x"} for label in assays],
            "tissue": [{"label": label} for label in tissues],
            "assets": [
                {"filetype": "RDS", "url": f"https://example.org/{number}.rds"},
                {"filetype": "H5AD", "url": f"https://example.org/{number}.h5ad"},
            ],
        }

    return {
        "datasets": [
            dataset(0, ["10x 3' v2"], ["lung"]),
            dataset(1, ["10x 3' v2", "Smart-seq2"], ["lung"]),
            dataset(2, ["10x 3' v2"], ["lung", "heart"]),
            dataset(3, ["Smart-seq2"], ["lung"]),
            dataset(4, ["10x 3' v2"], ["lung"]),
        ]
    }


def test_tabula_listing_names_the_right_files() -> None:
    found = loaders.matrix_addresses(_listing())
    assert found == ["https://example.org/0.h5ad", "https://example.org/4.h5ad"]


@pytest.mark.filterwarnings("ignore")
def test_tabula_converter_downloads_joins_and_accepts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("anndata")
    matrix = np.random.default_rng(5).poisson(3.0, (40, 30)).astype(np.float32) + 1

    def download(url: str, target: Path, sha256: str | None) -> None:
        part = matrix[:20] if url.endswith("/0.h5ad") else matrix[20:]
        _cells(part).write_h5ad(target)

    monkeypatch.setattr(loaders, "download", download)
    listing = tmp_path / "listing.json"
    listing.write_text(json.dumps(_listing()))
    target = tmp_path / "tabula.npz"
    with pytest.raises(ValueError, match="not the data set"):
        loaders.tabula([listing], target)
    assert not target.exists()
    train, test = thin(sparse.csr_array(matrix.astype(np.int64)))
    measured = metric.measured_constants(train, test)
    monkeypatch.setattr(datasets, "PUBLISHED", {"tabula": measured})
    loaders.tabula([listing], target)
    np.testing.assert_array_equal(read_counts(target).toarray(), matrix)
    listing.write_text(json.dumps({"message": "not found"}))
    with pytest.raises(ValueError, match="CELLxGENE"):
        loaders.tabula([listing], target)


def test_loaders_say_which_library_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "anndata", None)
    monkeypatch.setitem(sys.modules, "scanpy", None)
    with pytest.raises(Unavailable, match=r"evoduet\[denoising\]"):
        loaders.pbmc([tmp_path / "x.h5ad"], tmp_path / "y.npz")
    with pytest.raises(Unavailable, match=r"evoduet\[denoising\]"):
        loaders.pbmc68k_reduced()


@pytest.mark.filterwarnings("ignore")
def test_bundled_cells_of_scanpy(shared: Path) -> None:
    pytest.importorskip("scanpy")
    found = loaders.pbmc68k_reduced()
    stored = read_counts(shared / "data" / "denoising" / "pbmc68k_reduced_counts.npz")
    assert found.shape == stored.shape == (700, 765)
    assert found.sum() == 486651
    assert (found != stored).nnz == 0


def test_sources_are_those_of_the_problem() -> None:
    declared = {file.name: file for file in find_task("denoising").declared.data}
    assert {name for name, file in declared.items() if "embedded" in file.variants} == {
        f"{name}.npz" for name in SIMULATED
    }
    for name in ("pancreas", "pbmc", "tabula"):
        source = declared[f"{name}.npz"].source
        assert source is not None
        assert source.converter is not None
        module, _, function = source.converter.partition(":")
        assert callable(getattr(sys.modules[module], function))
