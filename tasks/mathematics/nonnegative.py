"""Rules that the first and the second autocorrelation inequality share: non-negative heights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmark.artifact import Artifact
from benchmark.evaluator import Invalid
from tasks.mathematics.autoconvolution import Heights
from tasks.mathematics.returned import claimed_number, split_tuple
from tasks.mathematics.step_heights import listed_heights, stored_heights

MOST_CELLS = 1048576
CAP = 1000.0  # higher heights count as this
LEAST_SUM = 0.01  # of the heights


def list_artifact(returned: Any) -> Artifact:
    """A returned list of heights, with the claim beside it where that is a finite number."""
    construction, rest = split_tuple(returned)
    heights = listed_heights(construction)
    try:
        claim = claimed_number(rest[0], "value") if rest else None
    except Invalid:  # an unusable claim is no reason to reject the construction
        claim = None
    return Artifact(heights if claim is None else {"construction": heights, "claim": claim})


def given_heights(artifact: Artifact) -> Heights:
    """The heights of an artifact as given; raises :class:`Invalid` when too little is positive."""
    heights = stored_heights(artifact.construction, MOST_CELLS)
    # ac1 sums after both clips and ac2 before the upper one; the verdict is the same, as one height
    # above the cap is more than enough either way
    total = float(clipped(heights).sum())
    if total < LEAST_SUM:
        raise Invalid(
            f"the heights sum to {total:.3g} after clipping; "
            f"at least {LEAST_SUM} is needed (scale them up: the value does not change)"
        )
    return heights


def clipped(heights: Heights) -> Heights:
    """The heights that are scored: clipped to [0, 1000]."""
    return np.clip(heights, 0.0, CAP)


def clipping_note(given: Heights) -> list[str]:
    """A sentence on how many heights were clipped; empty when none was."""
    negative, high = int((given < 0.0).sum()), int((given > CAP).sum())
    counted = [
        (negative, "negative heights counted as 0"),
        (high, f"higher heights counted as {CAP:.0f}"),
    ]
    return [f"{count} {text}" for count, text in counted if count]


def claim_note(artifact: Artifact, computed: float, name: str) -> list[str]:
    """A sentence when the program claims another value than the computed one."""
    claim = artifact.get("claim")
    if not isinstance(claim, int | float) or math.isclose(claim, computed, rel_tol=1e-6):
        return []
    return [f"the program claims {name} = {claim!r}, the heights give {computed!r}"]
