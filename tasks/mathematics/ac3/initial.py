"""Third autocorrelation inequality: a bump with two cosines on 400 cells."""

import numpy as np

# EVOLVE-BLOCK-START
CELLS = 400


def construct_function():
    """Heights of a step function on CELLS equal cells of [-1/4, 1/4]."""
    x = np.linspace(-0.25, 0.25, CELLS)
    heights = np.exp(-(x**2) / 0.02)
    heights += 0.3 * np.cos(16 * np.pi * x) + 0.15 * np.sin(32 * np.pi * x)
    return heights * (25.0 / heights.sum())


def compute_c3(heights):
    """max |f*f| over (integral of f)^2 of the step function with these heights."""
    dx = 0.5 / len(heights)
    peak = np.abs(np.convolve(heights, heights)).max() * dx
    return float(peak / (heights.sum() * dx) ** 2)


# EVOLVE-BLOCK-END


def run_code():
    """(heights, their C3, the loss that was minimised, number of cells)."""
    heights = np.asarray(construct_function(), dtype=float)
    c3 = compute_c3(heights)
    return heights, c3, c3, len(heights)
