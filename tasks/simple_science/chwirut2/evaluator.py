"""Chwirut2: a three-parameter ultrasonic calibration curve (minimise the residual sum of squares).

NIST Statistical Reference Datasets, https://www.itl.nist.gov/div898/strd/nls/data/chwirut2.shtml
(D. Chwirut, Ultrasonic Reference Block Study). x is the metal distance, y the ultrasonic response.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmark.artifact import Artifact, Plain
from benchmark.candidates import PayloadSolver
from benchmark.evaluator import Invalid, Score, Stage
from tasks.simple_science import answers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OBSERVATIONS = Path(__file__).parent / "data" / "chwirut2.csv"
REFERENCE_RSS = 513.04802941  # combined score 1; certified by NIST


class CalibrationCurve(PayloadSolver):
    """``solve`` returns ``[b1, b2, b3]`` of ``exp(-b1 x) / (b2 + b3 x)``; no bounds."""

    def payload(self) -> dict[str, Plain]:
        x, y = observations()
        return {"x": list(x), "y": list(y)}

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        x, y = observations()
        residuals = differences(y, [predict(valid_parameters(artifact), at) for at in x])
        rss = sum_of_squares(residuals)
        combined = min(1.0, REFERENCE_RSS / rss)
        rmse = math.sqrt(rss / len(x))
        worst = max(range(len(x)), key=lambda index: abs(residuals[index]))
        feedback = (
            f"RSS {rss:.9g}, root mean square residual {rmse:.5g}; "
            f"largest residual (data - model) {residuals[worst]:.5g} at x = {x[worst]:g}"
        )
        return Score(combined, combined, {"rss": rss, "rmse": rmse}, feedback)

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        parameters = valid_parameters(artifact)
        x, y = observations()
        fitted = [predict(parameters, at) for at in x]
        residuals = differences(y, fitted)
        grid = np.linspace(min(x), max(x), 401)
        b1, b2, b3 = parameters
        with np.errstate(all="ignore"):  # there may be a pole between the data
            curve = np.exp(-b1 * grid) / (b2 + b3 * grid)
        low, high = min(0.0, *y, *fitted), max(*y, *fitted)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
        above.plot(x, y, "o", markersize=4, color="black", fillstyle="none", label="measured")
        above.plot(grid, np.where(np.isfinite(curve), curve, np.nan), "tab:blue", label="model")
        above.set(title=f"RSS {sum_of_squares(residuals):.6g}", ylabel="ultrasonic response")
        above.set_ylim(low, high + 0.05 * (high - low))
        above.legend()
        below.axhline(0, color="black", linewidth=0.8)
        below.plot(x, residuals, "o", markersize=3, color="tab:gray")
        below.set(xlabel="metal distance", ylabel="data - model")


@cache
def observations() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Distances x and responses y, 54 each, in the order of the NIST file."""
    with OBSERVATIONS.open(encoding="utf-8", newline="") as lines:
        rows = [(float(row["x"]), float(row["y"])) for row in csv.DictReader(lines)]
    x, y = zip(*rows, strict=True)
    return x, y


def valid_parameters(artifact: Artifact) -> list[float]:
    """b1, b2, b3; raises :class:`Invalid` for anything but three numbers."""
    return answers.numbers(answers.answer(artifact), 3, "the answer")


def predict(parameters: Sequence[float], x: float) -> float:
    """The model at ``x``; raises :class:`Invalid` where it is not a finite number."""
    b1, b2, b3 = parameters
    try:
        value = math.exp(-b1 * x) / (b2 + b3 * x)
    except ZeroDivisionError:
        raise Invalid(f"b2 + b3 x is zero at x = {x:g}") from None
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise Invalid(f"the model overflows at x = {x:g}")
    return value


def differences(y: Sequence[float], predicted: Sequence[float]) -> list[float]:
    """Measured minus predicted."""
    return [measured - value for measured, value in zip(y, predicted, strict=True)]


def sum_of_squares(residuals: Sequence[float]) -> float:
    """The sum, rounded once; raises :class:`Invalid` when it overflows."""
    try:
        total = math.fsum(residual**2 for residual in residuals)
    except OverflowError:
        total = math.inf
    if not math.isfinite(total):
        raise Invalid("a squared residual overflows")
    return total


EVALUATOR = CalibrationCurve
