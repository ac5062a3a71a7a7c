"""Noisy input, answers and held-out counts: the same cells, genes, order and colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from benchmark.side_by_side import Shown, Value
from tasks.scientific_algorithms.denoising.datasets import Dataset
from tasks.scientific_algorithms.denoising.metric import Counts, Matrix, log_normalised

FIRST_CHOICE = "pbmc"
"""Data set that is drawn where all answers have it."""

GENES = 24
_NOISY, _TRUTH = "noisy input: training counts", "reference: held-out counts"


def draw(
    figure: Figure, dataset: Dataset, answers: Sequence[tuple[str, Matrix]], note: str
) -> Shown:
    """All cells by the genes that vary most in the noisy input, log-normalised.

    Genes and both orders follow from the noisy input alone, so that no answer chooses how it is
    shown. Returned is the mean of each gene in each panel.
    """
    noisy = _expression(dataset.train)
    genes = np.argsort(-noisy.var(axis=0), kind="stable")[:GENES]
    by_cell, by_gene = _orders(noisy[:, genes])
    shown = genes[by_gene]
    panels = [(_NOISY, noisy[:, shown])]
    panels += [(label, _expression(matrix)[:, shown]) for label, matrix in answers]
    panels.append((_TRUTH, _expression(dataset.test)[:, shown]))
    highest = max(float(np.percentile(panel, 99.5)) for _, panel in panels) or 1.0
    figure.set_size_inches(2.5 * len(panels) + 0.8, 4.8)
    axes = figure.subplots(1, len(panels), sharey=True)
    for place, (title, panel) in zip(axes, panels, strict=True):
        image = place.imshow(
            panel[by_cell], aspect="auto", interpolation="nearest", vmin=0, vmax=highest,
            cmap="viridis", rasterized=True,
        )  # fmt: skip
        place.set_title(title, fontsize="medium")
        place.set(xticks=[], yticks=[], xlabel=f"{len(shown)} genes")
    axes[0].set_ylabel(f"{len(by_cell)} cells")
    figure.colorbar(image, ax=list(axes), label="log(1 + counts per 10,000)", extend="max")
    figure.suptitle(f"{dataset.name}{note}", fontsize="medium")
    rows: list[tuple[Value, ...]] = [
        (title, place, int(gene), float(mean))
        for title, panel in panels
        for place, (gene, mean) in enumerate(zip(shown, panel.mean(axis=0), strict=True))
    ]
    return Shown(("panel", "place", "gene_column", "mean_log_expression"), rows)


def _expression(matrix: Matrix | Counts) -> Matrix:
    rows = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
    return log_normalised(rows.astype(np.float64))


def _orders(panel: Matrix) -> tuple[Any, Any]:
    """Orders of rows and columns along the first principal component, with a fixed sign."""
    left, _, right = np.linalg.svd(panel - panel.mean(axis=0), full_matrices=False)
    sign = 1.0 if right[0][np.argmax(np.abs(right[0]))] > 0 else -1.0
    return np.argsort(sign * left[:, 0], kind="stable"), np.argsort(sign * right[0], kind="stable")
