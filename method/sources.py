"""Where proposals come from: the door between a method of its own and our run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from method.ports import Paused


class MethodProblem(Paused):
    """The method broke the protocol, died or fell silent; the run can be resumed (exit code 75)."""


class Source(Protocol):
    """Where proposals come from. One call at a time; each may be cancelled."""

    name: str

    async def open(self, start: Mapping[str, Any]) -> None:
        """Get ready; ``start`` tells task, limits and budget."""

    def tell(self, verdict: Mapping[str, Any]) -> None:
        """A verdict, to be delivered before the next question or at the end."""

    async def ask(self, t: int) -> Mapping[str, Any]:
        """The proposal of ``t`` (``program``, ``parent``, ``changes``), or ``done`` and why.

        Raises :class:`MethodProblem`.
        """

    async def close(self, reason: str) -> None:
        """Say that the run is over and leave nothing behind."""
