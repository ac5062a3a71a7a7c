"""What is checked before the first paid call: key, model, prices, search quota (methods.md 2.9).

The initial program is evaluated by the engine before it asks any model, so a run that cannot start
costs nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from method.config import ConfigProblem

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Problem:
    """Why a run must not start; ``quota`` and ``key`` may be mended without a new run."""

    kind: Literal["config", "key", "quota"]
    text: str


@dataclass(frozen=True)
class Check:
    """What a client found out about itself. ``priced``: whether it will know what calls cost."""

    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    priced: bool = True


@runtime_checkable
class Checkable(Protocol):
    """A client that can look whether it will be able to work, without a paid call."""

    name: str

    async def check(self) -> Check:
        """Problems and notes."""


class PreflightProblem(ConfigProblem):
    """The run would fail at its first paid call; ``waiting``: quota or key alone are the reason."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        found = list(problems)
        super().__init__("; ".join(problem.text for problem in found))
        self.missing = all(problem.kind == "key" for problem in found)
        self.waiting = all(problem.kind in ("quota", "key") for problem in found)


async def preflight(clients: Iterable[object], max_cost: float | None) -> tuple[str, ...]:
    """Check every client that can be checked; returns the notes and logs them.

    Raises :class:`PreflightProblem` with all problems at once.
    """
    problems: list[Problem] = []
    notes: list[str] = []
    for client in clients:
        if not isinstance(client, Checkable):
            continue
        check = await client.check()
        problems += check.problems
        notes += check.notes
        if not check.priced:
            unknown = f"the price of {client.name} is unknown"
            if max_cost is None:
                notes.append(f"{unknown}: its calls will be counted as unpriced")
            else:
                problems.append(
                    Problem("config", f"{unknown}, so max_cost cannot be kept; give --prices")
                )
    if problems:
        raise PreflightProblem(problems)
    for note in notes:
        _log.warning("%s", note)
    return tuple(notes)
