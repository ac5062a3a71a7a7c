"""The data sets of the task, their published constants, and the test that a copy must pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from benchmark.data import data_file
from benchmark.evaluator import Setup, Unavailable
from tasks.scientific_algorithms.denoising.counts import read_counts, thin
from tasks.scientific_algorithms.denoising.metric import (
    Constants,
    Counts,
    Quality,
    losses,
    measured_constants,
)

SEARCH: Mapping[str, str] = {"official": "pancreas", "embedded": "sim_search"}
HELD_OUT: Mapping[str, tuple[str, ...]] = {
    "official": ("pbmc", "tabula"),
    "embedded": ("sim_heldout_a", "sim_heldout_b"),
}

PUBLISHED: Mapping[str, Constants] = {
    "pancreas": Constants(0.304721, 0.257575, 0.031739),
    "pbmc": Constants(0.270945, 0.300447, 0.043569),
    "tabula": Constants(0.261763, 0.206542, 0.026961),
}
"""Rounded as the Open Problems benchmark prints them; scores always use these numbers."""
ACCEPTED = 5e-7
"""Largest difference from a published constant: half a unit of its last digit."""

SIMULATED: Mapping[str, Constants] = {
    "sim_search": Constants(0.8647545399250111, 0.8083690640328495, 0.12203721101684713),
    "sim_heldout_a": Constants(0.9492392621672514, 0.8510220593502337, 0.12940547532674976),
    "sim_heldout_b": Constants(0.9064668933163772, 0.9968924907851541, 0.13663560631104193),
}
SIMULATED_ACCEPTED = 1e-9
EMBEDDED_X0, EMBEDDED_SOTA = 0.586452, 0.698868
"""Held-out score of the initial and of the released SimpleTES program on the simulated sets."""


@dataclass(frozen=True)
class Dataset:
    """Training and test counts of one data set; ``all_zero`` is what an empty answer would get."""

    name: str
    train: Counts
    test: Counts
    constants: Constants
    all_zero: Quality

    @property
    def train_total(self) -> float:
        """Number of training molecules."""
        return float(self.train.sum())


def load(setup: Setup, name: str) -> Dataset:
    """One data set, split and accepted; raises :class:`Unavailable` with what is wrong."""
    path = data_file(setup, f"{name}.npz")
    return _load(name, path, path.stat().st_mtime_ns)


@lru_cache(maxsize=3)
def _load(name: str, path: Path, _changed: int) -> Dataset:
    try:
        return split(name, read_counts(path))
    except ValueError as error:
        raise Unavailable(str(error)) from None


def split(name: str, counts: Counts) -> Dataset:
    """Thin the counts and compare the constants; raises ``ValueError`` for another matrix."""
    train, test = thin(counts)
    measured = constants = measured_constants(train, test)
    if name in PUBLISHED:
        constants = PUBLISHED[name]
        require_constants(name, measured, constants, ACCEPTED)
    elif name in SIMULATED:
        require_constants(name, measured, SIMULATED[name], SIMULATED_ACCEPTED)
    nothing = losses(0 * test, test, float(train.sum()))
    return Dataset(name, train, test, constants, Quality(nothing, constants))


def require_constants(name: str, found: Constants, expected: Constants, tolerance: float) -> None:
    """The acceptance test of a copy; raises ``ValueError`` naming the constant that differs."""
    for label, value in vars(expected).items():
        difference = abs(getattr(found, label) - value)
        if not difference <= tolerance:
            raise ValueError(
                f"{name}: {label} is {getattr(found, label):.9g}, but must be {value:.9g} "
                f"(+- {tolerance:g}): this is not the data set that scores are compared on"
            )
