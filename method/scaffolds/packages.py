"""What the adapters to the packages ``openevolve`` and ``skydiscover`` share.

Both packages seed and use the global random generator, so creating a second database would reset
everybody's stream. A :class:`Stream` lends the global generator a state of its own for the time of
a call and takes it back afterwards.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata

from method.protocols import Program


class PackageProblem(RuntimeError):
    """A package is missing, or does not behave as its adapter was written for."""


def require_package(name: str, versions: str) -> None:
    """Raise :class:`PackageProblem` unless a version that starts with ``versions`` is installed."""
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        found = ""
    if not found.startswith(versions):
        state = f"version {found} is installed" if found else "it is not installed"
        raise PackageProblem(
            f"needs the package {name} {versions.rstrip('.')}, but {state}: "
            f"pip install 'evoduet[{name}]'"
        )


class Stream:
    """The state of one generator. ``name`` is its whole seed, for example ``42:scaffold``."""

    def __init__(self, name: str) -> None:
        self._state = random.Random(name).getstate()

    @contextmanager
    def as_global(self) -> Iterator[None]:
        """Inside, functions of :mod:`random` draw from this stream; do not await here."""
        others = random.getstate()
        random.setstate(self._state)
        try:
            yield
        finally:
            self._state = random.getstate()
            random.setstate(others)

    def digest(self) -> str:
        """Hash of where the stream stands."""
        return hashlib.sha256(repr(self._state).encode()).hexdigest()


def metrics_of(program: Program) -> dict[str, float]:
    """A program's scores as both packages want them, ``combined_score`` first."""
    others = {name: value for name, value in program.metrics.items() if name != "combined_score"}
    return {"combined_score": program.search_score, **others}
