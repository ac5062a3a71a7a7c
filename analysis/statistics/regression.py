"""Least squares with standard errors that allow for dependence within clusters, such as runs."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.statistics.bootstrap import LEVEL
from analysis.statistics.scores import Array

Values = Sequence[float] | Array


@dataclass(frozen=True)
class Estimate:
    """A coefficient; its error, 95 % interval and two-sided p need two clusters."""

    value: float
    error: float | None = None
    lo: float | None = None
    hi: float | None = None
    p: float | None = None


def least_squares(
    columns: Mapping[str, Values], y: Values, clusters: Sequence[Hashable]
) -> dict[str, Estimate]:
    """Coefficients of ``y`` on ``columns``, by name; no constant is added.

    Columns that are zero throughout, or that earlier ones already span, have no coefficient and are
    left out. Errors are the cluster-robust sandwich with the small-sample factor
    G / (G - 1) * (n - 1) / (n - k), intervals and p from t with G - 1 degrees of freedom for G
    clusters (CR1; Cameron and Miller, Journal of Human Resources 50, 2015). Too small with few
    clusters: below about twenty read them as lower bounds.
    """
    names, x = _independent(columns)
    if not names:
        return {}
    target = np.asarray(y, dtype=float)
    inverse = np.linalg.inv(x.T @ x)
    beta = inverse @ x.T @ target
    groups = _groups(clusters)
    n, k, g = *x.shape, len(groups)
    if g < 2 or n <= k:
        return {name: Estimate(float(b)) for name, b in zip(names, beta, strict=True)}
    residuals = target - x @ beta
    scores = np.array([x[rows].T @ residuals[rows] for rows in groups])
    factor = g / (g - 1) * (n - 1) / (n - k)
    errors = np.sqrt(np.diag(inverse @ (factor * scores.T @ scores) @ inverse))
    return {
        name: _estimate(float(b), float(error), g - 1)
        for name, b, error in zip(names, beta, errors, strict=True)
    }


def _independent(columns: Mapping[str, Values]) -> tuple[list[str], Array]:
    names: list[str] = []
    kept: list[Array] = []
    for name, values in columns.items():
        tried = [*kept, np.asarray(values, dtype=float)]
        if np.linalg.matrix_rank(np.array(tried)) == len(tried):
            names, kept = [*names, name], tried
    return names, np.array(kept).T


def _groups(clusters: Sequence[Hashable]) -> list[Array]:
    places: dict[Hashable, list[int]] = {}
    for place, cluster in enumerate(clusters):
        places.setdefault(cluster, []).append(place)
    return [np.array(rows) for rows in places.values()]


def _estimate(value: float, error: float, freedom: int) -> Estimate:
    from scipy.stats import t

    if error == 0.0:
        return Estimate(value)
    reach = float(t.ppf((1 + LEVEL) / 2, freedom)) * error
    p = float(2 * t.sf(abs(value) / error, freedom))
    return Estimate(value, error, value - reach, value + reach, p)
