"""Strategies that draw heights of step functions for the four step-function tasks."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from tasks.mathematics.autoconvolution import DIRECT_UP_TO, Heights

unhurried = settings(deadline=None, max_examples=60)  # the machine may be busy
ROUNDING = 1e-12  # relative


@st.composite
def nonnegative(draw: st.DrawFn) -> Heights:
    """Up to 600 heights in [0, 100]: even, with gaps, in plateaus, or over many magnitudes."""
    # twice the longest direct sum: both ways of convolving are met, also after doubling the cells
    n = draw(st.integers(1, 2 * DIRECT_UP_TO + 100))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    a = generator.uniform(0.0, 100.0, n)
    kind = draw(st.sampled_from(["even", "gaps", "plateaus", "magnitudes"]))
    if kind == "gaps":
        a *= generator.random(n) < 0.2
    elif kind == "plateaus":
        a = np.round(a / 50.0) * 50.0
    elif kind == "magnitudes":
        a = 10.0 ** generator.uniform(-12.0, 2.0, n)
    a[generator.integers(n)] = 100.0
    return a


@st.composite
def signed(draw: st.DrawFn) -> Heights:
    """Heights of both signs whose sum is not small beside their sizes."""
    a = draw(nonnegative())
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    signs = np.where(generator.random(len(a)) < draw(st.sampled_from([0.02, 0.3])), -1.0, 1.0)
    a = a * signs
    if abs(a.sum()) < 0.01 * np.abs(a).sum():
        a = np.abs(a)
    return a


@st.composite
def overlapping(draw: st.DrawFn) -> Heights:
    """Heights in [0, 1] that stay there when they are scaled to integral 1.

    They keep off the bounds, which rounding could cross; the cases at the bounds have own tests.
    """
    h = 0.999 * (draw(nonnegative()) / 100.0) + 0.0005
    return 1.0 - h if h.mean() < 0.5 else h


def admissible(task: str) -> st.SearchStrategy[Heights]:
    return {"erdos": overlapping(), "ac3": signed()}.get(task, nonnegative())
