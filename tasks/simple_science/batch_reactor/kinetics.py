"""Two consecutive reactions A -> B -> C in a batch of unit time under a temperature profile.

APMonitor, Batch Reactor Optimization, www.apmonitor.com/wiki/index.php/Apps/BatchReactor; L. Beal
et al., GEKKO, Processes 6(8) (2018) 106. Temperatures in kelvin, concentrations relative to A(0).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from benchmark.evaluator import Invalid

Floats = NDArray[np.float64]

TIMES = np.linspace(0.0, 1.0, 501)
INITIAL = (1.0, 0.0, 0.0)
K1_PREFACTOR, K1_ACTIVATION = 4000.0, 2500.0  # A -> B, second order in A
K2_PREFACTOR, K2_ACTIVATION = 620_000.0, 5000.0  # B -> C, first order in B
LOST_MASS = 1e-8
NEGATIVE = -1e-9


def rates(state: Sequence[float] | Floats, temperature: float) -> tuple[float, float, float]:
    """Time derivatives of A, B and C."""
    a, b = state[0], state[1]
    first = K1_PREFACTOR * math.exp(-K1_ACTIVATION / temperature) * a * a
    second = K2_PREFACTOR * math.exp(-K2_ACTIVATION / temperature) * b
    return -first, first - second, second


def concentrations(temperature: Sequence[float]) -> Floats:
    """A, B, C at :data:`TIMES` for the temperatures there (linear in between), shape (501, 3).

    Each interval is integrated by itself, so that the kinks of the profile lie on its ends. Raises
    :class:`Invalid` when an integration fails or the end state is not physical.
    """
    states = np.empty((len(TIMES), 3))
    states[0] = INITIAL
    for i in range(len(TIMES) - 1):
        states[i + 1] = _across(i, temperature, states[i])
    if states[-1].min() < NEGATIVE or abs(states[-1].sum() - 1) > LOST_MASS:
        raise Invalid(f"the final concentrations {states[-1].tolist()} are not physical")
    return states


def _across(i: int, temperature: Sequence[float], state: Floats) -> Floats:
    start, end = float(TIMES[i]), float(TIMES[i + 1])
    slope = (temperature[i + 1] - temperature[i]) / (end - start)
    solution = solve_ivp(
        lambda t, y: rates(y, temperature[i] + slope * (t - start)),
        (start, end),
        state,
        method="DOP853",
        rtol=1e-10,
        atol=1e-12,
    )
    if not solution.success:
        raise Invalid(f"the reactor cannot be integrated from t = {start:.3f}: {solution.message}")
    final: Floats = solution.y[:, -1]
    return final
