"""26 circles in the unit square: grid points, and radii that shrink until nothing overlaps."""

# EVOLVE-BLOCK-START
import numpy as np

N_CIRCLES = 26
PER_SIDE = 6
MARGIN = 0.01
SHRINK = 0.99


def construct_circles() -> np.ndarray:
    """Place the circles; returns an array of shape (N_CIRCLES, 3) with the columns x, y, radius."""
    centres = grid_points()
    return np.column_stack([centres, fitting_radii(centres)])


def grid_points() -> np.ndarray:
    """The first N_CIRCLES midpoints of a grid of PER_SIDE by PER_SIDE cells, column by column."""
    steps = (np.arange(PER_SIDE) + 0.5) / PER_SIDE
    x, y = np.meshgrid(steps, steps, indexing="ij")
    points = np.column_stack([x.ravel(), y.ravel()])[:N_CIRCLES]
    return np.clip(points, MARGIN, 1.0 - MARGIN)


def fitting_radii(centres: np.ndarray) -> np.ndarray:
    """Radii up to the nearest wall; then each overlapping pair shrinks, one pair after another."""
    radii = np.minimum(centres, 1.0 - centres).min(axis=1)
    for i in range(N_CIRCLES):
        for j in range(i + 1, N_CIRCLES):
            distance = np.hypot(*(centres[i] - centres[j]))
            reach = radii[i] + radii[j]
            if reach > distance:
                radii[[i, j]] *= SHRINK * distance / reach
    return radii


# EVOLVE-BLOCK-END


def run_code():
    """Return the circles and the sum of their radii."""
    circles = construct_circles()
    return circles, float(np.sum(circles[:, 2]))
