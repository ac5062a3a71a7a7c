"""The process in which a search strategy lives, seen from outside.

A long dialogue, not one call: the harness's sandbox starts :mod:`method.scaffolds.evox_host` as a
command whose stdin is a pipe of ours, so that requests and answers go line by line through stdin
and stdout. No network, no files but a private folder, nothing of the environment; memory and
processes are bounded, and each call is bounded here.
"""

from __future__ import annotations

import json
import os
import select
import time
import weakref
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from typing import Any

from benchmark.sandbox import policy
from benchmark.sandbox.jail import Jail, last_line
from benchmark.sandbox.launch import Launcher
from benchmark.sandbox.limits import Limits
from method.scaffolds.evox_world import (
    CHECK_FILE,
    HOST_FILE,
    STRATEGY_FILE,
    WORLD_FILE,
    steady,
)

LOOK_S = 0.05
READ_BYTES = 1 << 18
LONGEST_ANSWER = 16 << 20
MOST_PRINTED = 16 << 20
STDERR_TAIL = 2000


class StrategyFailed(RuntimeError):
    """A strategy raised, took too long, ended its process or answered nonsense.

    The message is the same whenever the run is replayed, and may be shown to a model.
    """


class HostBroken(RuntimeError):
    """The sandboxed process does not even start: nothing that a strategy did."""


@dataclass(frozen=True)
class CallLimits:
    """What one call may use.

    ``cpu_s`` counts, since a busy machine must not decide what a run does; ``wall_s`` ends calls
    that wait without computing. ``memory_mb`` and ``processes`` hold for the whole process.
    """

    cpu_s: float = 5.0
    wall_s: float = 30.0
    memory_mb: int = 1024
    processes: int = 4
    start_s: float = 60.0


class StrategyHost:
    """One sandboxed process with one strategy. :meth:`call` until it fails; :meth:`close` always.

    A host that nobody closes is ended when it is collected, or with the interpreter.
    """

    def __init__(self, launcher: Launcher, code: str, limits: CallLimits) -> None:
        self._limits = limits
        self._number = 0
        self._unread = b""
        self._printed = 0
        self._stderr = b""
        requests, self._requests = os.pipe()
        try:
            self._jail = _start(launcher, code, limits, requests)
        except BaseException:
            os.close(self._requests)
            raise
        finally:
            os.close(requests)
        self._end = weakref.finalize(self, _end, self._jail, self._requests)
        for fd in (self._requests, self._jail.stdout.fileno(), self._jail.stderr.fileno()):
            os.set_blocking(fd, False)
        try:
            self._exchange(b"", limits.start_s, limits.start_s)
        except StrategyFailed as problem:
            said = last_line(self._stderr)
            self.close()
            raise HostBroken(
                f"EvoX's sandboxed process does not start: {said or problem}"
            ) from None

    def call(self, name: str, **arguments: Any) -> Any:
        """One request and its answer. Raises :class:`StrategyFailed`; then the host is useless."""
        self._number += 1
        request = json.dumps({"id": self._number, "call": name, **arguments}) + "\n"
        return self._exchange(request.encode(), self._limits.cpu_s, self._limits.wall_s)

    def close(self) -> None:
        """End the process and whatever it started."""
        self._end()

    def _exchange(self, request: bytes, cpu_s: float, wall_s: float) -> Any:
        line = self._line(memoryview(request), cpu_s, wall_s)
        try:
            answer = json.loads(line)
            if answer["id"] != self._number:
                raise ValueError
            if "ok" in answer:
                return answer["ok"]
            words = steady(str(answer["error"]))
        except (ValueError, TypeError, KeyError, RecursionError):
            raise StrategyFailed("the strategy wrote into the pipe of its host") from None
        raise StrategyFailed(words)

    def _line(self, request: memoryview, cpu_s: float, wall_s: float) -> bytes:
        """Feed the request and read one line within the limits."""
        jail, clock = self._jail, _Clock(self._jail, self._limits, cpu_s, wall_s)
        stdout, stderr = jail.stdout.fileno(), jail.stderr.fileno()
        poller = select.poll()
        poller.register(stdout, select.POLLIN)
        poller.register(stderr, select.POLLIN)
        if request:
            poller.register(self._requests, select.POLLOUT)
        while b"\n" not in self._unread:
            for fd, _ in poller.poll(LOOK_S * 1000):
                if fd == self._requests:
                    request = _feed(fd, request)
                    if not request:
                        poller.unregister(fd)
                elif fd == stderr:
                    if not self._drain(fd):
                        poller.unregister(fd)
                elif not self._read(fd):
                    raise StrategyFailed("the strategy ended its process")
            clock.check()
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _read(self, fd: int) -> bool:
        """Read answers; False when the process is gone."""
        part = _available(fd)
        if part is None:
            return True
        self._unread += part
        if len(self._unread) > LONGEST_ANSWER:
            raise StrategyFailed("the strategy's answer is too long")
        return bool(part)

    def _drain(self, fd: int) -> bool:
        part = _available(fd)
        if part is None:
            return True
        self._printed += len(part)
        if self._printed > MOST_PRINTED:
            raise StrategyFailed("the strategy prints without end")
        self._stderr = (self._stderr + part)[-STDERR_TAIL:]
        return bool(part)


def _start(launcher: Launcher, code: str, limits: CallLimits, stdin: int) -> Jail:
    here = resources.files("method.scaffolds")
    files = {name: here.joinpath(name).read_bytes() for name in (HOST_FILE, WORLD_FILE)}
    files |= dict.fromkeys((STRATEGY_FILE, CHECK_FILE), code.encode("utf-8", errors="replace"))
    return launcher.start_command(
        # Not isolated (-I): that would ignore PYTHONHASHSEED, and sets would differ between runs.
        [str(policy.visible().interpreter), "-S", "-s", "-B", "-u", HOST_FILE],
        Limits(
            cpu_s=24 * 3600.0,  # each call is bounded by its own clock
            memory_mb=limits.memory_mb,
            processes=limits.processes,
            threads=32,
            scratch_mb=1,
        ),
        env=None,
        files=files,
        visible=(),
        stdin=stdin,
        collect=None,
    )


def _end(jail: Jail, requests: int) -> None:
    os.close(requests)
    with suppress(ValueError):  # the streams of a jail that was ended before are closed
        jail.end()


class _Clock:
    """Says when a call has used up what it may use."""

    def __init__(self, jail: Jail, limits: CallLimits, cpu_s: float, wall_s: float) -> None:
        self._jail = jail
        self._limits = limits
        self._cpu_s = cpu_s
        self._wall_s = wall_s
        self._started = time.monotonic()
        self._next_look = self._started + LOOK_S
        self._before_s = jail.usage().cpu_s

    def check(self) -> None:
        """Raises :class:`StrategyFailed` at a limit; looks closely only now and then."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_S
        usage = self._jail.usage(self._limits.processes)
        waited = now - self._started
        if usage.cpu_s - self._before_s > self._cpu_s or waited > self._wall_s:
            # The same words for both: which comes first depends on the machine.
            raise StrategyFailed(f"the strategy took too long (allowed are {self._cpu_s:g} s)")
        if usage.processes > self._limits.processes:
            raise StrategyFailed(
                f"the strategy started more than {self._limits.processes} processes"
            )
        if self._jail.resident_mb(usage) > self._limits.memory_mb:
            raise StrategyFailed(f"the strategy used more than {self._limits.memory_mb} MB")


def _available(fd: int) -> bytes | None:
    """What can be read now; empty at the end of the stream, ``None`` when there is nothing yet."""
    try:
        return os.read(fd, READ_BYTES)
    except BlockingIOError:
        return None


def _feed(fd: int, request: memoryview) -> memoryview:
    try:
        return request[os.write(fd, request) :]
    except BlockingIOError:
        return request
    except BrokenPipeError:
        return memoryview(b"")
