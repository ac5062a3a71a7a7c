"""Methods of other distributions: classes found through the entry-point group ``evoduet.methods``.

An entry point names a class; the class is called with one :class:`Given`. What it is, is told by
what it has:

* a **scaffold** has the methods of :class:`~method.protocols.Scaffold`, used as
  ``--method NAME+RETRIEVER``;
* a **retriever** has :meth:`~method.protocols.Retriever.retrieve`, used as
  ``--method [SCAFFOLD+]NAME``;
* a **proposer** has :meth:`Proposer.propose` and :meth:`Proposer.observe` and is a whole method,
  used as ``--method NAME``.

Nothing is imported before a name is used that is not one of our own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from typing import Any, Literal, Protocol

from benchmark.task import Task
from method.scaffolds.solution_prompt import PromptTask

GROUP = "evoduet.methods"
Kind = Literal["scaffold", "retriever", "proposer"]

_HAS: Mapping[Kind, tuple[str, ...]] = {
    "scaffold": (
        "start", "select", "insert", "retained", "after_iteration", "fingerprint", "close",
    ),
    "retriever": ("retrieve",),
    "proposer": ("propose", "observe"),
}  # fmt: skip


class PluginProblem(ValueError):
    """An entry point cannot be used; the message names it, its distribution and what is wrong."""


@dataclass(frozen=True)
class Given:
    """What a class of an entry point is made from.

    ``prompt`` is what our scaffolds write their prompts from, ``iterations`` is T, ``options`` the
    table of the configuration for this part: ``scaffold_options``, ``retriever_options`` or
    ``method_options``. The class checks its options itself and raises ``ValueError``.
    """

    task: Task
    prompt: PromptTask
    seed: int
    iterations: int
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)


class Proposer(Protocol):
    """A whole method in this process: asked for a program, told every verdict.

    Both are called from a thread of their own, one at a time.
    """

    def propose(self) -> str | Mapping[str, Any] | None:
        """The source of the next program; ``None``: there is none, the run is over.

        A mapping holds it as ``program`` and may tell ``parent``, the ``t`` it came from, and
        ``changes`` in a few words.
        """

    def observe(self, evaluation: Mapping[str, Any]) -> None:
        """One verdict, the initial program's first (``t`` = 0); see docs/adding-a-method.md.

        When a run goes on, all earlier verdicts come again before :meth:`propose` is called.
        """


@dataclass(frozen=True)
class Plugin:
    """A class of an entry point. ``origin`` is the distribution with its version."""

    name: str
    kind: Kind
    maker: type
    origin: str

    def make(self, given: Given) -> Any:
        """An instance. Raises :class:`PluginProblem` for what the class refuses."""
        try:
            return self.maker(given)
        except (TypeError, ValueError, LookupError) as error:
            raise PluginProblem(f"{self.name} of {self.origin}: {error}") from error


def plugin_names() -> tuple[str, ...]:
    """Names that installed distributions offer, sorted."""
    return tuple(sorted(point.name for point in metadata.entry_points(group=GROUP)))


@cache
def load_plugin(name: str) -> Plugin | None:
    """The class of that name; ``None`` when no distribution offers one.

    Raises :class:`PluginProblem` when it cannot be loaded or is none of the three kinds, or when
    two distributions offer the name.
    """
    points = [point for point in metadata.entry_points(group=GROUP) if point.name == name]
    if not points:
        return None
    if len({point.value for point in points}) > 1:
        places = " and ".join(sorted(_origin(point) for point in points))
        raise PluginProblem(f"method {name}: offered by {places}; uninstall one")
    origin = _origin(points[0])
    where = f"method {name} of {origin} (entry point {points[0].value})"
    try:
        maker = points[0].load()
    except Exception as error:
        raise PluginProblem(f"{where}: {type(error).__name__}: {error}") from error
    if not isinstance(maker, type):
        raise PluginProblem(f"{where}: must be a class, is a {type(maker).__name__}")
    return Plugin(name, _kind(maker, where), maker, origin)


def _origin(point: metadata.EntryPoint) -> str:
    return (
        "an unknown distribution"
        if point.dist is None
        else f"{point.dist.name} {point.dist.version}"
    )


def _kind(maker: type, where: str) -> Kind:
    for kind, names in _HAS.items():
        if all(callable(getattr(maker, name, None)) for name in names):
            return kind
    wanted = "; ".join(f"a {kind} has {', '.join(names)}" for kind, names in _HAS.items())
    raise PluginProblem(f"{where}: is neither of the three kinds ({wanted})")
