"""Lens law: the best multiple of the first variable."""

# EVOLVE-BLOCK-START
import numpy as np


def solve(payload):
    """A formula {"expression": text} in x0, x1, x2 for payload["y_train"].

    The factor c of c*x0 minimises the mean squared relative error on the training rows.
    """
    ratios = np.array(payload["x_train"])[:, 0] / np.array(payload["y_train"])
    factor = ratios.sum() / (ratios * ratios).sum()
    return {"expression": f"({factor:.17g})*x0"}


# EVOLVE-BLOCK-END
