"""How evaluations run on this machine: backend, threads, prewarmed sandboxes.

One :class:`Harness` serves any number of evaluations, also from several threads.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from types import TracebackType

from benchmark import provenance
from benchmark.sandbox import launch
from benchmark.sandbox.limits import Limits
from benchmark.sandbox.pool import Pool
from benchmark.sandbox.session import Session

WARM_LIBRARIES = ("numpy", "scipy")


class Harness:
    """Runs candidates with one isolation level.

    ``isolation`` is ``auto``, ``bubblewrap`` or ``process``; a candidate gets ``max(1, cores //
    workers)`` threads; ``prewarm`` keeps one started interpreter per worker ready, each used once.
    Raises :class:`~benchmark.sandbox.jail.SandboxBroken` when the isolation is not to be had.
    Use as a context manager, or call :meth:`close`.
    """

    def __init__(
        self,
        isolation: str = "auto",
        *,
        workers: int = 1,
        prewarm: bool = False,
        network: bool = False,
        warm: Sequence[str] = WARM_LIBRARIES,
    ) -> None:
        self.threads = max(1, provenance.cores() // workers)
        self.launcher = launch.choose(isolation, self.threads, network)
        self._pool = Pool(self.launcher, workers, warm) if prewarm else None

    @property
    def isolation(self) -> str:
        """The isolation level that evaluations record."""
        return self.launcher.isolation

    def session(self, limits: Limits) -> Session:
        """A sandbox account for one evaluation."""
        return Session(self.launcher, limits, self._pool.take if self._pool else None)

    def close(self) -> None:
        """End the prewarmed sandboxes."""
        if self._pool is not None:
            self._pool.close()

    def __enter__(self) -> Harness:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


_lock = threading.Lock()


@cache
def _default() -> Harness:
    return Harness()


def default_harness() -> Harness:
    """The harness of plain ``evaluate(...)`` calls: strongest isolation, nothing prewarmed."""
    with _lock:
        return _default()
