"""First autocorrelation inequality: small steps towards the solutions of linear programs.

Takes minutes. Prints how many steps were done: a slow machine stops at the time budget.

The linear programs have many optimal vertices, so rounding decides which one the solver reports;
after some hundred steps of different paths C1 differs in the second decimal, at the end in the
seventh. The sums, the transform and the written-out bounds below keep the path that is on record.
"""

import time

import numpy as np
from scipy.linalg import toeplitz
from scipy.optimize import linprog
from scipy.signal import fftconvolve

# EVOLVE-BLOCK-START
LP_STEPS = 1600  # the value has settled by then
STEP = 0.01
LP_SECONDS = 10.0


def compute_c1(a):
    """max f*f over (integral of f)^2 of the step function with heights a on [-1/4, 1/4]."""
    return 2.0 * len(a) * np.convolve(a, a).max() / a.sum() ** 2


def largest_under(a, ceiling):
    """Heights b >= 0 of largest sum whose convolution with a stays below the ceiling.

    Returns None when the solver does not finish.
    """
    n = len(a)
    convolution = toeplitz(np.append(a, np.zeros(n - 1)), np.zeros(n))  # (2n-1, n)
    result = linprog(
        -np.ones(n),
        A_ub=np.vstack([convolution, -np.eye(n)]),
        b_ub=np.append(np.full(2 * n - 1, ceiling), np.zeros(n)),
        method="highs",
        options={"time_limit": LP_SECONDS},
    )
    return result.x if result.success else None


def propose_candidate(seed=42, budget_s=1000, lp_steps=LP_STEPS):
    """The best heights met within lp_steps steps from a constant function, or within the budget."""
    deadline = time.monotonic() + budget_s
    rng = np.random.RandomState(seed)
    rng.random_sample()  # once decided about a warm start; keeps the later draws what they were
    height = rng.random_sample()
    a = np.full(rng.randint(100, 1000), height)
    total = np.sqrt(2.0 * len(a))
    best, best_c1 = a, compute_c1(a)
    done = 0
    while done < lp_steps and time.monotonic() < deadline:
        scaled = a * total / sum(a.tolist())
        b = largest_under(scaled, fftconvolve(scaled, scaled).max())
        if b is None:
            a = a.copy()
            a[rng.randint(len(a))] += rng.normal(0.0, 0.01)
        else:
            a = a + STEP * (b * total / b.sum() - a)
        done += 1
        c1 = compute_c1(a)
        if c1 < best_c1:
            best, best_c1 = a, c1
    print(f"{done} of {lp_steps} steps done, C1 = {best_c1:.10f}")
    return best.tolist()


# EVOLVE-BLOCK-END


def run_code():
    """(heights, their C1)."""
    heights = propose_candidate(seed=42, budget_s=1000)
    a = np.asarray(heights, dtype=float)
    return heights, float(2.0 * len(a) * np.convolve(a, a).max() / a.sum() ** 2)
