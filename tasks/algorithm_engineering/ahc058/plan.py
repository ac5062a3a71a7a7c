"""Production plans of AHC058: reading them, and what they earn.

All cases are simulated together. Action ``10 * level + id`` raises the power of that machine;
``REST`` does nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.algorithm_engineering.ahc058.generator import APPLES, IDS, LEVELS, TURNS
from tasks.algorithm_engineering.cases import WrongAnswer
from tasks.algorithm_engineering.tokens import WORD, shown, whole_number

Integers = NDArray[np.int64]

REST = LEVELS * IDS
LARGEST = 2.0**62
"""Numbers beyond would leave 64 bits soon after; no plan gets anywhere near."""


def read_plan(text: str) -> list[int]:
    """The actions of an output, one for each turn; raises :class:`WrongAnswer`.

    Blank lines and lines that start with ``#`` do not count, nor does what follows the last turn.
    """
    actions: list[int] = []
    for line in text.split("\n"):
        words = WORD.findall(line)
        if words and not words[0].startswith("#"):
            actions.append(_action(words, len(actions)))
            if len(actions) == TURNS:
                return actions
    raise WrongAnswer(f"{len(actions)} actions; there are {TURNS} turns")


def _action(words: Sequence[str], turn: int) -> int:
    level = whole_number(words[0])
    if level is None or not -1 <= level < LEVELS:
        raise WrongAnswer(f"turn {turn}: {shown(words[0])} is no level (-1 to {LEVELS - 1})")
    if len(words) != (1 if level == -1 else 2):
        form = "-1 stands alone" if level == -1 else "a level is followed by one id"
        raise WrongAnswer(f"turn {turn}: {len(words)} words; {form}")
    if level == -1:
        return REST
    number = whole_number(words[1], signed=False)
    if number is None or number >= IDS:
        raise WrongAnswer(f"turn {turn}: {shown(words[1])} is no id (0 to {IDS - 1})")
    return level * IDS + number


@dataclass(frozen=True)
class Economy:
    """Inputs of n cases: capacities (n, IDS), base costs (n, LEVELS * IDS)."""

    capacities: Integers
    costs: Integers


def read_economy(texts: Sequence[bytes]) -> Economy:
    """Parse input files."""
    numbers = np.array([text.split() for text in texts], dtype=np.int64)[:, 4:]
    return Economy(numbers[:, :IDS], numbers[:, IDS:])


@dataclass(frozen=True)
class Outcome:
    """What n plans led to.

    ``apples`` (n, TURNS + 1) before each turn and after the last; ``broken`` (n,) is the first
    turn whose payment was not affordable or whose numbers passed ``LARGEST``, -1 for none.
    After that turn a case's numbers mean nothing.
    """

    apples: Integers
    broken: Integers


def simulate(economy: Economy, actions: Integers) -> Outcome:
    """Carry out ``actions`` (n, TURNS) for n cases at once."""
    n = len(actions)
    cases = np.arange(n)
    # Doing nothing is a machine more that costs nothing and yields nothing.
    costs: Integers = np.concatenate([economy.costs, np.zeros((n, 1), dtype=np.int64)], axis=1)
    powers = np.zeros((n, REST + 1), dtype=np.int64)
    counts = np.ones((n, LEVELS, IDS), dtype=np.int64)
    apples = np.full((n, TURNS + 1), APPLES, dtype=np.int64)
    broken = np.full(n, -1, dtype=np.int64)
    for turn in range(TURNS):
        action = actions[:, turn]
        left = apples[:, turn] - costs[cases, action] * (powers[cases, action] + 1)
        powers[cases, action] += 1
        factors: Integers = powers[:, :REST].reshape(n, LEVELS, IDS).copy()
        factors[:, 0] *= economy.capacities
        too_large = _leaves_range(left, counts, factors)
        broken[(broken < 0) & ((left < 0) | too_large)] = turn
        made = counts * factors
        apples[:, turn + 1] = left + made[:, 0].sum(axis=1)
        counts[:, :-1] += made[:, 1:]
    return Outcome(apples, broken)


def _leaves_range(left: Integers, counts: Integers, factors: Integers) -> NDArray[np.bool_]:
    """Where this turn's production goes beyond ``LARGEST``, by floats, which do not overflow."""
    made = counts.astype(np.float64) * factors
    apples = left + made[:, 0].sum(axis=1)
    machines = (counts[:, :-1] + made[:, 1:]).max(axis=(1, 2))
    too_large: NDArray[np.bool_] = (apples > LARGEST) | (machines > LARGEST)
    return too_large


def case_score(apples: int) -> int:
    """100000 log2 of the final apples, rounded with halves away from zero."""
    if apples <= 0:
        raise WrongAnswer(f"{apples} apples in the end; at least 1 is needed")
    scaled = 100_000.0 * math.log2(apples)  # of at least 1, so it is not negative
    whole = math.floor(scaled)
    return whole + (scaled - whole >= 0.5)
