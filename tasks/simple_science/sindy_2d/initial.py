"""Equations of motion from data: least squares on finite differences, linear terms only."""

# EVOLVE-BLOCK-START
import numpy as np

TERMS = ([0, 0], [1, 0], [0, 1])  # exponents of 1, x, y


def solve(payload):
    """Coefficients of x' (first row) and y' (second row), columns in the order of the powers."""
    times = np.array(payload["t"])
    states = np.array(payload["x"])
    powers = payload["powers"]
    rates = np.gradient(states, times[1] - times[0], axis=0, edge_order=2)

    columns = [powers.index(list(term)) for term in TERMS]
    library = np.stack([np.prod(states ** np.array(powers[c]), axis=1) for c in columns], axis=1)
    inner = slice(1, -1)  # one-sided differences at the two ends are less exact
    solution, *_ = np.linalg.lstsq(library[inner], rates[inner], rcond=None)

    coefficients = np.zeros((2, len(powers)))
    coefficients[:, columns] = solution.T
    return {"coefficients": coefficients.tolist()}


# EVOLVE-BLOCK-END
