"""Conditions of a C-N cross-coupling in flow (maximise the emulated yield).

Experiments: L. M. Baumgartner et al., Org. Process Res. Dev. 23 (2019) 1594. Emulator: Summit,
K. C. Felton, J. G. Rittig, A. A. Lapkin, Chemistry-Methods 1 (2021) 116 (MIT), five networks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from benchmark.artifact import Artifact, Plain
from benchmark.candidates import PayloadSolver
from benchmark.data import data_file
from benchmark.evaluator import Invalid, Score, Setup, Stage
from tasks.simple_science import answers
from tasks.simple_science.baumgartner.emulator import Emulator

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CATALYSTS = ("tBuXPhos", "tBuBrettPhos", "AlPhos")
BASES = ("DBU", "BTMG", "TMG", "TEA")
BOUNDS: dict[str, tuple[float, float]] = {
    "base_equivalents": (1, 2.5),
    "temperature": (30, 100),
    "t_res": (60, 1800),
}
UNITS = {
    "temperature": "degree Celsius",
    "t_res": "seconds",
    "base_equivalents": "equivalents",
}


@dataclass(frozen=True)
class Conditions:
    """One experiment; ``numbers`` in the order of ``BOUNDS``."""

    catalyst: str
    base: str
    numbers: tuple[float, ...]

    @property
    def levels(self) -> tuple[int, int]:
        """Positions of catalyst and base in their lists."""
        return CATALYSTS.index(self.catalyst), BASES.index(self.base)


class CrossCoupling(PayloadSolver):
    """``solve`` returns a catalyst, a base and three numbers within closed bounds."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._weights = data_file(setup, "weights.npz")
        self._scalers = data_file(setup, "scalers.json")

    @cached_property
    def emulator(self) -> Emulator:
        """The five networks; ``ValueError`` when their inputs are not the ones of the payload."""
        scalers = json.loads(self._scalers.read_text(encoding="utf-8"))
        names = (scalers["catalyst_levels"], scalers["base_levels"], scalers["continuous_order"])
        if names != (list(CATALYSTS), list(BASES), list(BOUNDS)):
            raise ValueError("scalers.json: other inputs, or another order, than in the payload")
        return Emulator.load(self._weights, scalers)

    def payload(self) -> dict[str, Plain]:
        return {
            "catalysts": list(CATALYSTS),
            "bases": list(BASES),
            "bounds": {name: list(bounds) for name, bounds in BOUNDS.items()},
            "objective": "maximize ensemble predicted yield",
            "units": dict(UNITS),
        }

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        conditions = valid_conditions(artifact)
        members = self.emulator.members(conditions.numbers, conditions.levels)
        clipped = np.clip(members, 0, 1)
        mean = float(clipped.mean())
        metrics = {
            "standard_deviation": float(clipped.std()),
            "unclipped_mean": float(members.mean()),
            "clipped_members": float(np.count_nonzero(clipped != members)),
        }
        each = ", ".join(f"{value:.4f}" for value in clipped)
        feedback = f"emulated yield {mean:.6f}, the mean of the five clipped members {each}"
        return Score(mean, mean, metrics, feedback)

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        from tasks.simple_science.baumgartner import picture

        picture.draw(valid_conditions(artifact), self.emulator, BOUNDS, figure)


def valid_conditions(artifact: Artifact) -> Conditions:
    """The conditions; raises :class:`Invalid` for wrong keys, names, numbers or bounds."""
    names = ("catalyst", "base", *BOUNDS)
    catalyst, base, *values = answers.fields(answers.answer(artifact), *names)
    for name, value, known in (("catalyst", catalyst, CATALYSTS), ("base", base, BASES)):
        if answers.text(value, name) not in known:
            raise Invalid(f"{name} must be one of {', '.join(known)}; got {answers.shown(value)}")
    numbers = []
    for (name, (low, high)), value in zip(BOUNDS.items(), values, strict=True):
        number = answers.number(value, name)
        if not low <= number <= high:
            raise Invalid(f"{name} must lie in [{low:g}, {high:g}]; got {number!r}")
        numbers.append(number)
    return Conditions(catalyst, base, tuple(numbers))


EVALUATOR = CrossCoupling
