"""Linear law in the logarithms of model size and number of parallel streams."""

# EVOLVE-BLOCK-START
import numpy as np


def logarithms(data_points):
    """Design matrix (m, 3) of rows (parameters, streams): 1, ln(parameters), ln(streams)."""
    rows = np.atleast_2d(np.asarray(data_points, dtype=float))
    return np.column_stack([np.ones(len(rows)), np.log(np.maximum(rows, 1.0))])


def scaling_law_func(data_points, params):
    """Predict the losses (m,) of rows (parameters, streams) from three coefficients."""
    return logarithms(data_points) @ np.asarray(params, dtype=float)


def fit_scaling_law(data_points, loss_values):
    """Fit the three coefficients to ``loss_values`` (n,) by least squares."""
    losses = np.asarray(loss_values, dtype=float)
    coefficients, *_ = np.linalg.lstsq(logarithms(data_points), losses, rcond=None)
    return coefficients


# EVOLVE-BLOCK-END
