"""Linear law: each loss is a bias plus a weighted sum of the five shares."""

# EVOLVE-BLOCK-START
import numpy as np


def scaling_law_func(data_points, params):
    """Predict the losses (m, 5) of mixtures ``data_points`` (m, 5).

    ``params`` (5, 6) holds, for each output, the bias and the weights of the five shares.
    """
    shares = np.atleast_2d(np.asarray(data_points, dtype=float))
    coefficients = np.asarray(params, dtype=float)
    return coefficients[:, 0] + shares @ coefficients[:, 1:].T


def fit_scaling_law(data_points, loss_values):
    """Fit ``loss_values`` (n, 5) to mixtures ``data_points`` (n, 5) by least squares.

    The shares sum to 1, so bias and weights are not unique: the shortest solution is taken.
    """
    shares = np.atleast_2d(np.asarray(data_points, dtype=float))
    losses = np.asarray(loss_values, dtype=float)
    design = np.column_stack([np.ones(len(shares)), shares])
    coefficients, *_ = np.linalg.lstsq(design, losses, rcond=None)
    return coefficients.T


# EVOLVE-BLOCK-END
