"""Prewarmed sandboxes: started interpreters, libraries imported, each waiting for one candidate."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence

from benchmark.sandbox.jail import SandboxBroken
from benchmark.sandbox.launch import Launcher, Runner
from benchmark.sandbox.limits import Limits


class Pool:
    """Keeps ``size`` runners ready; each is handed out once and never comes back.

    A runner's scratch folder is sized when it starts, so runners are warmed for one size; a
    candidate whose task wants another is started cold.
    """

    def __init__(self, launcher: Launcher, size: int, warm: Sequence[str]) -> None:
        self._launcher = launcher
        self._warm = tuple(warm)
        self._limits = Limits()
        self._ready: queue.Queue[Runner] = queue.Queue()
        self._wanted = threading.Semaphore(size)
        self._closing = threading.Event()
        self._broken: SandboxBroken | None = None
        # One thread starts them all and outlives them: a sandbox dies with the thread that made it.
        self._thread = threading.Thread(target=self._refill, name="prewarm", daemon=True)
        self._thread.start()

    def take(self, limits: Limits) -> Runner:
        """A runner of which nothing has been used yet. Raises :class:`SandboxBroken`."""
        if limits.scratch_mb != self._limits.scratch_mb or self._closing.is_set():
            return self._launcher.start_runner(limits)
        while self._broken is None:
            try:
                runner = self._ready.get(timeout=0.5)
            except queue.Empty:
                continue
            self._wanted.release()
            return runner
        raise self._broken

    def close(self) -> None:
        """End all waiting runners."""
        self._closing.set()
        self._wanted.release()
        self._thread.join()

    def _refill(self) -> None:
        try:
            while True:
                self._wanted.acquire()
                if self._closing.is_set():
                    break
                self._ready.put(self._launcher.start_runner(self._limits, self._warm))
        except (SandboxBroken, OSError) as error:
            self._broken = SandboxBroken(f"no prewarmed sandbox: {error}")
        finally:
            while not self._ready.empty():
                self._ready.get_nowait().discard()
