"""Count matrices (cells x genes): reading them, and splitting their molecules in two."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from tasks.scientific_algorithms.denoising.metric import Counts, blocks

SPLIT_SEED = 42
TRAIN_FRACTION = 0.9
FEWEST_COUNTS = 2  # cells with fewer are dropped

_FIELDS = ("data", "indices", "indptr", "shape")


def read_counts(path: Path) -> Counts:
    """The matrix in an npz file of CSR arrays; raises ``ValueError`` for anything else."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            data, indices, indptr, shape = (archive[name] for name in _FIELDS)
        counts = sparse.csr_array((data, indices, indptr), shape=tuple(int(n) for n in shape))
        counts.check_format(full_check=True)
    except (KeyError, OSError, ValueError, TypeError) as error:
        raise ValueError(f"{path} holds no count matrix ({error})") from None
    return whole_numbers(counts, str(path))


def write_counts(path: Path, counts: Counts) -> None:
    """Write a matrix as an npz file of CSR arrays, in the smallest types that hold it."""
    ordered = counts.copy()
    ordered.sum_duplicates()
    ordered.eliminate_zeros()
    arrays = {
        "data": ordered.data.astype(np.min_scalar_type(int(ordered.data.max(initial=0)))),
        "indices": ordered.indices.astype(np.int32),
        "indptr": ordered.indptr.astype(np.int32 if ordered.nnz < 2**31 else np.int64),
        "shape": np.array(ordered.shape, dtype=np.int64),
    }
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type,unused-ignore]


def whole_numbers(counts: Counts, name: str) -> Counts:
    """The matrix as int64; raises ``ValueError`` unless it holds counts (0, 1, 2, ...)."""
    data = counts.data
    if data.dtype.kind not in "iuf" or not (np.isfinite(data).all() and (data >= 0).all()):
        raise ValueError(f"{name} holds values that are no counts")
    rounded = data.astype(np.int64)
    if (rounded != data).any():
        raise ValueError(f"{name} holds fractions; raw counts are needed")
    return sparse.csr_array((rounded, counts.indices, counts.indptr), shape=counts.shape)


def filtered(counts: Counts) -> Counts:
    """Without genes that are seen in no cell, then without cells of fewer than two counts."""
    seen = counts[:, _sums(counts, 0) > 0]
    return seen[_sums(seen, 1) >= FEWEST_COUNTS]


def thin(counts: Counts, seed: int = SPLIT_SEED) -> tuple[Counts, Counts]:
    """Training and test counts: each molecule is a training one with probability 0.9.

    Genes without a training molecule are dropped, cells are kept. The numbers are those of one call
    ``RandomState(seed).binomial`` on the dense matrix: that generator draws entry by entry in row
    order (also for zeros), so blocks of rows give the same without the dense matrix.
    """
    kept = filtered(counts)
    random = np.random.RandomState(seed)
    train_blocks, test_blocks = [], []
    for rows in blocks(kept.shape):
        block = kept[rows].toarray().astype(np.int64)
        train = random.binomial(block, TRAIN_FRACTION)
        train_blocks.append(sparse.csr_array(train))
        test_blocks.append(sparse.csr_array(block - train))
    train, test = (sparse.vstack(part, format="csr") for part in (train_blocks, test_blocks))
    measured = _sums(train, 0) > 0
    return train[:, measured], test[:, measured]


def _sums(counts: Counts, axis: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.asarray(counts.sum(axis=axis)).ravel()
