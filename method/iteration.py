"""What retrievers and scaffolds see of a run: its calls, and what came before the iteration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from method.ports import Ports
from method.protocols import (
    Completion,
    Draws,
    Program,
    Request,
    Scaffold,
    SearchResponse,
    Settings,
)


@dataclass
class Iteration:
    """What retrievers see of iteration ``t`` (:class:`~method.protocols.RunContext`)."""

    t: int
    seed: int
    settings: Settings
    ports: Ports
    scaffold: Scaffold
    draws: Draws
    _notes: Counter[str] = field(default_factory=Counter)

    async def sample(self, request: Request) -> list[Completion]:
        return await self.ports.sample(self.t, request)

    async def search(
        self, scope: str, query: str, max_results: int, depth: str = "advanced"
    ) -> SearchResponse:
        return await self.ports.search(self.t, scope, query, max_results, depth)

    async def retained(self) -> Sequence[Program]:
        return await self.scaffold.retained()

    def note(self, name: Literal["gate", "round"], data: Mapping[str, Any]) -> None:
        self._notes[name] += 1
        self.ports.record(name, (self.t, self._notes[name]), data)


class Asker:
    """The model as a scaffold sees it: calls of iteration ``t``, journalled like all others."""

    def __init__(self, ports: Ports, t: int) -> None:
        self.name = "journalled"
        self._ports = ports
        self._t = t

    async def sample(self, request: Request) -> list[Completion]:
        return await self._ports.sample(self._t, request)
