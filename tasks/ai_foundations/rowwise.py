"""A prediction may depend on its own row and the parameters only: how that is checked.

Beside each whole batch the same process predicts it again in two shuffled halves, which covers all
rows. A program that remembers the batch, or looks into its process for it, would pass that; so a
second fresh process, which holds at most half of the rows, predicts some of them one at a time.
"""

from __future__ import annotations

import hashlib

import numpy as np

from benchmark.evaluator import Invalid
from tasks.ai_foundations.tables import Array, Rows, Table

TOLERANCE = 1e-9
"""Largest difference, relative to ``max(1, |prediction|)``, between two ways to ask."""
SINGLE_ROWS = 96
"""Rows of a table that are asked for one at a time, at least one of each group of two or more."""

Selection = np.ndarray[tuple[int], np.dtype[np.intp]]


def halves(rows: Rows) -> list[Selection]:
    """Row numbers of two shuffled halves; nothing for a single row."""
    if len(rows) < 2:
        return []
    order = _shuffled(rows)
    middle = (len(rows) + 1) // 2
    return [order[middle:], order[:middle]]


def single_rows(table: Table) -> dict[str, Selection]:
    """Row numbers to ask for one at a time, by group: never more than half of a group."""
    share = max(1, SINGLE_ROWS // len(table))
    return {
        name: _shuffled(rows)[: min(len(rows) // 2, share)]
        for name, rows in table.items()
        if len(rows) >= 2
    }


def _shuffled(rows: Rows) -> Selection:
    """Always the same order, but one that a program cannot work out: it lacks the targets."""
    digest = hashlib.sha256(rows.features.tobytes() + rows.targets.tobytes()).digest()
    return np.random.default_rng(list(digest)).permutation(len(rows))


def require_equal(batch: Array, alone: Array, group: str) -> None:
    """Compare predictions (n, D) of the same rows; raises :class:`Invalid` where they differ."""
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(batch - alone) > TOLERANCE * np.maximum(1.0, np.abs(batch))
    if apart.any() or not np.isfinite(alone).all():
        raise Invalid(
            f"scaling_law_func predicts rows of {group} differently in another batch: a prediction "
            f"may depend on its own row and the parameters only (tolerance {TOLERANCE:.0e})"
        )
