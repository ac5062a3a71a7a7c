"""Sum of powers of the features plus a constant, fitted by a quasi-Newton method."""

# EVOLVE-BLOCK-START
import numpy as np
from scipy.optimize import minimize


def scaling_law_func(data_points, params):
    """Predict (m,) values ``sum_f c_f x_f ** e_f + b`` of rows (m, F).

    ``params`` are the 2 F + 1 numbers ``c_1 .. c_F, e_1 .. e_F, b``.
    """
    rows = np.atleast_2d(np.asarray(data_points, dtype=float))
    n_features = rows.shape[1]
    params = np.asarray(params, dtype=float)
    coefficients, exponents = params[:n_features], params[n_features : 2 * n_features]
    return np.sum(coefficients * rows**exponents, axis=1) + params[-1]


def fit_scaling_law(data_points, loss_values):
    """Minimise the mean squared error from all ones; the start itself where that fails."""
    rows = np.atleast_2d(np.asarray(data_points, dtype=float))
    losses = np.asarray(loss_values, dtype=float)
    start = np.ones(2 * rows.shape[1] + 1)

    def mean_squared_error(params):
        return np.mean((scaling_law_func(rows, params) - losses) ** 2)

    with np.errstate(all="ignore"):  # a negative base has no real power; a large one overflows
        result = minimize(mean_squared_error, start, method="BFGS")
    return result.x if result.success else start


# EVOLVE-BLOCK-END
