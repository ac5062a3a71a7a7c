"""Prewarmed sandboxes: started interpreters, libraries imported, each waiting for one candidate."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence

from benchmark.sandbox.jail import SandboxBroken
from benchmark.sandbox.launch import Launcher, Runner
from benchmark.sandbox.limits import Limits

PATIENCE_S = 60.0
RETRY_S = 1.0


class Pool:
    """Keeps ``size`` runners ready; each is handed out once and never comes back.

    A runner's scratch folder is sized when it starts; a candidate whose task wants a larger one is
    started cold, and so is one that finds nothing ready because none could be started ahead.
    """

    def __init__(self, launcher: Launcher, size: int, warm: Sequence[str]) -> None:
        self._launcher = launcher
        self._warm = tuple(warm)
        self._limits = Limits()
        self._ready: queue.Queue[Runner] = queue.Queue()
        self._handed_out: list[Runner] = []
        self._wanted = threading.Semaphore(size)
        self._failing = threading.Event()
        self._closing = threading.Event()
        self._emptied = threading.Event()
        # One thread starts them all and outlives them: a sandbox dies with the thread that made it.
        threading.Thread(target=self._refill, name="prewarm", daemon=True).start()

    @property
    def ready(self) -> int:
        """How many runners wait for a candidate now."""
        return self._ready.qsize()

    def take(self, limits: Limits) -> Runner:
        """A runner of which nothing has been used yet. Raises :class:`SandboxBroken`."""
        if limits.scratch_mb > self._limits.scratch_mb:
            return self._launcher.start_runner(limits)
        while not (self._closing.is_set() or self._failing.is_set()):
            try:
                runner = self._ready.get(timeout=0.2)
            except queue.Empty:
                continue
            self._wanted.release()
            if runner.jail.alive():
                self._handed_out.append(runner)
                return runner
            runner.discard()  # it died while it waited: the machine's doing, nobody's verdict
        return self._launcher.start_runner(limits)

    def close(self) -> None:
        """End all waiting runners; those handed out stay until their evaluation is over."""
        self._closing.set()
        self._wanted.release()
        self._emptied.wait(PATIENCE_S)

    def _refill(self) -> None:
        while True:
            self._wanted.acquire()
            self._handed_out = [runner for runner in self._handed_out if not _ended(runner)]
            if self._closing.is_set():
                break
            try:
                self._ready.put(self._launcher.start_runner(self._limits, self._warm))
                self._failing.clear()
            except (SandboxBroken, OSError):
                self._failing.set()
                self._wanted.release()
                self._closing.wait(RETRY_S)
        while not self._ready.empty():
            self._ready.get_nowait().discard()
        self._emptied.set()
        for runner in self._handed_out:
            runner.jail.ended.wait()


def _ended(runner: Runner) -> bool:
    return runner.jail.ended.is_set()
