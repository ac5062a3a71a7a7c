"""The official count matrices from their public sources: converters for ``evoduet data fetch``.

=========  ===========================================================================  =========
data set   source                                                                       role
=========  ===========================================================================  =========
pancreas   human islets, the inDrop1 batch of figshare file 36086813, layer ``counts``  search
pbmc       10x Genomics, 1k PBMC v3, figshare file 36088667                             held out
tabula     Tabula Muris Senis, lung, 10x 3' v2: CELLxGENE collection                    held out
=========  ===========================================================================  =========

A converter reads the downloaded ``.h5ad`` with anndata (extra ``denoising``), follows the Open
Problems loaders, runs the acceptance test of the published constants, and only then writes CSR
counts. Scoring reads those with numpy and scipy alone.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmark.download import download
from benchmark.evaluator import Unavailable
from tasks.scientific_algorithms.denoising.counts import filtered, whole_numbers, write_counts
from tasks.scientific_algorithms.denoising.datasets import split
from tasks.scientific_algorithms.denoising.metric import Counts

PANCREAS_BATCH = "inDrop1"
TABULA_ASSAY, TABULA_TISSUE = "10x 3' v2", "lung"


def pancreas(downloads: Sequence[Path], target: Path) -> None:
    """Human pancreatic islets, the cells of one technology."""
    _accept("pancreas", pancreas_counts(downloads[0]), target)


def pbmc(downloads: Sequence[Path], target: Path) -> None:
    """Peripheral blood mononuclear cells."""
    _accept("pbmc", pbmc_counts(downloads[0]), target)


def tabula(downloads: Sequence[Path], target: Path) -> None:
    """Mouse lung; the download is the listing of the collection, which names the matrices."""
    try:
        addresses = matrix_addresses(json.loads(downloads[0].read_bytes()))
    except (ValueError, KeyError, TypeError) as error:
        name = downloads[0].name
        raise ValueError(f"{name}: not the expected CELLxGENE collection ({error})") from None
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        paths = [Path(folder) / f"{number}.h5ad" for number in range(len(addresses))]
        for address, path in zip(addresses, paths, strict=True):
            download(address, path, None)
        _accept("tabula", tabula_counts(paths), target)


def pancreas_counts(path: Path) -> Counts:
    """Raw counts of the inDrop1 cells in the islets file."""
    cells = _anndata().read_h5ad(path)
    return _counts(cells[cells.obs["tech"] == PANCREAS_BATCH].layers["counts"], "pancreas")


def pbmc_counts(path: Path) -> Counts:
    """Raw counts of the 1k PBMC file."""
    return _counts(_anndata().read_h5ad(path).X, "pbmc")


def tabula_counts(paths: Iterable[Path]) -> Counts:
    """Raw counts of several files, cells below each other, over the union of their genes.

    Genes and cells are filtered on the matrix ``X`` first; only then the raw counts take its place,
    where the files have them.
    """
    anndata = _anndata()
    cells = anndata.concat([anndata.read_h5ad(path) for path in paths], join="outer")
    cells = cells[:, _sums(cells.X, 0) > 0]
    cells = cells[_sums(cells.X, 1) >= 2]
    if "raw" in cells.layers:
        return _counts(cells.layers["raw"], "tabula")
    if cells.raw is not None:
        return _counts(cells.raw[:, cells.var_names].X, "tabula")
    return _counts(cells.X, "tabula")


def matrix_addresses(listing: Mapping[str, Any]) -> list[str]:
    """Addresses of the ``.h5ad`` of each data set with just the one assay and the one tissue.

    Raises ``KeyError`` or ``TypeError`` for a listing of another form or without such a data set.
    """
    addresses = []
    for dataset in listing["datasets"]:
        assays = [entry["label"] for entry in dataset["assay"]]
        tissues = [entry["label"] for entry in dataset["tissue"]]
        if assays == [TABULA_ASSAY] and tissues == [TABULA_TISSUE]:
            matrices = [entry for entry in dataset["assets"] if entry["filetype"] == "H5AD"]
            addresses += [str(entry["url"]) for entry in matrices]
    if not addresses:
        raise KeyError(f"no data set of {TABULA_TISSUE}, {TABULA_ASSAY}")
    return addresses


def pbmc68k_reduced() -> Counts:
    """700 cells and 765 genes that scanpy ships: a smoke test, no part of any score.

    The package holds log-normalised values ``x``; the counts are ``expm1(x)`` in units of the
    smallest non-zero value of each cell. Raises :class:`Unavailable` without scanpy.
    """
    try:
        import scanpy
    except ImportError:
        raise Unavailable(
            "these cells come with scanpy: pip install 'evoduet[denoising]'"
        ) from None
    scaled = sparse.csr_array(scanpy.datasets.pbmc68k_reduced().raw.X).astype(np.float64)
    scaled.data = np.expm1(scaled.data)
    smallest = np.minimum.reduceat(scaled.data, scaled.indptr[:-1])
    scaled.data = np.rint(scaled.data / np.repeat(smallest, np.diff(scaled.indptr)))
    return _counts(scaled, "pbmc68k_reduced")


def _anndata() -> Any:
    try:
        import anndata
    except ImportError:
        raise Unavailable(
            "the official matrices are .h5ad files: pip install 'evoduet[denoising]'"
        ) from None
    return anndata


def _counts(matrix: Any, name: str) -> Counts:
    counts = sparse.csr_array(matrix)
    counts.sum_duplicates()
    return whole_numbers(counts, name)


def _sums(matrix: Any, axis: int) -> np.ndarray[tuple[int], np.dtype[Any]]:
    return np.asarray(matrix.sum(axis=axis)).ravel()


def _accept(name: str, counts: Counts, target: Path) -> None:
    kept = filtered(counts)
    split(name, kept)
    write_counts(target, kept)
