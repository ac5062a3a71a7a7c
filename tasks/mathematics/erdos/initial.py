"""Erdős minimum overlap: a random step function, projected onto the admissible ones."""

import numpy as np

# EVOLVE-BLOCK-START
SEED = 672


def project(h):
    """The nearest heights (least squares) with 0 <= h <= 1 and sum n/2.

    They are clip(h - t, 0, 1) for one number t, found by bisection: the sum falls as t grows.
    """
    low, high = h.min() - 1.0, h.max()
    for _ in range(80):
        middle = 0.5 * (low + high)
        if np.clip(h - middle, 0.0, 1.0).sum() > 0.5 * len(h):
            low = middle
        else:
            high = middle
    return np.clip(h - high, 0.0, 1.0)


def construct_h():
    """Heights on n equal cells of [0, 2], and n."""
    rng = np.random.default_rng(SEED)
    n = rng.integers(40, 100)
    noise = rng.uniform(-0.4, 0.4, n)
    return project(0.5 + (noise - noise.mean())), n


# EVOLVE-BLOCK-END


def compute_c5(h):
    """Largest overlap of h with 1 - h over all shifts, in units of length."""
    return float(np.correlate(h, 1.0 - h, mode="full").max() * 2.0 / len(h))


def run_code():
    """(heights, their C5, number of cells)."""
    h, n = construct_h()
    h = np.asarray(h, dtype=float)
    return h, compute_c5(h), int(n)
