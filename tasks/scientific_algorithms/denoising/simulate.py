"""Simulated count matrices for machines without the measured ones (variant ``embedded``).

Cells of a few types, genes with log-normal abundance and type-specific shifts, two smooth factors,
gamma-Poisson noise at a given depth. The parameters were picked by hand so that smoothing helps and
an all-zero answer does not; scores on these sets say nothing about measured cells.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from tasks.scientific_algorithms.denoising.counts import write_counts
from tasks.scientific_algorithms.denoising.metric import Counts, Matrix

ABUNDANCE_SPREAD = 1.2  # standard deviation of a gene's log abundance
MARKER_SHARE, MARKER_SPREAD = 0.6, 1.5  # genes that differ between types, and by how much (log)
FACTOR_SHARE, FACTOR_SPREAD = 0.10, 0.4  # genes that follow a factor, and how strongly (log)
DEPTH_SPREAD = 0.35  # standard deviation of a cell's log depth
NOISE_SHAPE = 20.0  # shape of the gamma noise; its mean is 1


@dataclass(frozen=True)
class Recipe:
    """Size, number of cell types, seed and median counts per cell of one simulated set."""

    cells: int
    genes: int
    types: int
    seed: int
    depth: float


RECIPES = {
    "sim_search": Recipe(400, 4000, 4, 20240917, 5000.0),
    "sim_heldout_a": Recipe(360, 3600, 5, 20240918, 5000.0),
    "sim_heldout_b": Recipe(320, 4200, 6, 20240919, 6000.0),
}


def simulate(recipe: Recipe) -> Counts:
    """Draw one set; the order of the draws is part of the recipe."""
    rng = np.random.default_rng(recipe.seed)
    size = (recipe.cells, recipe.genes)
    kinds = rng.integers(0, recipe.types, recipe.cells)
    abundance = rng.normal(0, ABUNDANCE_SPREAD, recipe.genes)
    by_type = (recipe.types, recipe.genes)
    markers = (rng.random(by_type) < MARKER_SHARE) * rng.normal(0, MARKER_SPREAD, by_type)
    factors = rng.normal(0, 1, (recipe.cells, 2))
    by_factor = (2, recipe.genes)
    loadings = (rng.random(by_factor) < FACTOR_SHARE) * rng.normal(0, FACTOR_SPREAD, by_factor)
    shares = _softmax(abundance + markers[kinds] + factors @ loadings)
    depths = np.exp(rng.normal(np.log(recipe.depth), DEPTH_SPREAD, recipe.cells))
    noise = rng.gamma(NOISE_SHAPE, 1 / NOISE_SHAPE, size)
    counts = rng.poisson(depths[:, np.newaxis] * shares * noise)
    counts = counts[:, counts.sum(axis=0) > 0]
    return sparse.csr_array(counts[counts.sum(axis=1) >= 2])


def _softmax(logits: Matrix) -> Matrix:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares: Matrix = weights / weights.sum(axis=1, keepdims=True)
    return shares


def sim_search(target: Path) -> None:
    """Write the set of the search stage."""
    write_counts(target, simulate(RECIPES["sim_search"]))


def sim_heldout_a(target: Path) -> None:
    """Write the first held-out set."""
    write_counts(target, simulate(RECIPES["sim_heldout_a"]))


def sim_heldout_b(target: Path) -> None:
    """Write the second held-out set."""
    write_counts(target, simulate(RECIPES["sim_heldout_b"]))
