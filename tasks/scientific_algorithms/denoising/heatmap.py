"""Expression before and after denoising, beside the held-out counts, in one colour scale."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tasks.scientific_algorithms.denoising.datasets import Dataset
from tasks.scientific_algorithms.denoising.metric import Counts, Matrix, log_normalised

CELLS, GENES = 120, 60
TITLES = ("noisy: training counts", "denoised", "reference: held-out counts")


def draw_heatmaps(figure: Figure, dataset: Dataset, denoised: Matrix, note: str) -> None:
    """Three panels of log-normalised expression: the same cells, genes, order and colours.

    The genes vary most in the training counts; the cells are an even sample; both are ordered by
    their first principal component after denoising, so that structure shows as blocks.
    """
    n_cells = dataset.train.shape[0]
    cells = np.unique(np.linspace(0, n_cells - 1, min(CELLS, n_cells)).astype(int))
    panels = [_expression(matrix, cells) for matrix in (dataset.train, denoised, dataset.test)]
    genes = np.argsort(-panels[0].var(axis=0), kind="stable")[:GENES]
    panels = [panel[:, genes] for panel in panels]
    by_cell, by_gene = _principal_orders(panels[1])
    panels = [panel[np.ix_(by_cell, by_gene)] for panel in panels]
    highest = max(float(np.percentile(panel, 99.5)) for panel in panels) or 1.0
    axes = figure.subplots(1, len(panels), sharey=True)
    for place, panel, title in zip(axes, panels, TITLES, strict=True):
        image = place.imshow(
            panel, aspect="auto", interpolation="nearest", vmin=0, vmax=highest, cmap="viridis"
        )
        place.set_title(title, fontsize="medium")
        place.set_xlabel(f"{len(genes)} most variable genes")
        place.set_xticks([])
        place.set_yticks([])
    axes[0].set_ylabel(f"{len(cells)} of {n_cells} cells")
    figure.colorbar(image, ax=axes, label="log(1 + counts per 10,000)", extend="max")
    figure.suptitle(f"{dataset.name}{note}")


def _expression(matrix: Matrix | Counts, cells: np.ndarray[Any, np.dtype[np.intp]]) -> Matrix:
    chosen = matrix[cells]
    rows = chosen if isinstance(chosen, np.ndarray) else chosen.toarray()
    return log_normalised(rows.astype(np.float64))


def _principal_orders(panel: Matrix) -> tuple[Any, Any]:
    """Orders of rows and columns along the first principal component."""
    left, _, right = np.linalg.svd(panel - panel.mean(axis=0), full_matrices=False)
    return np.argsort(left[:, 0], kind="stable"), np.argsort(right[0], kind="stable")
