"""Watching a jail from outside: its pipes, its clock, its processes, until it is over.

The loop never blocks on the candidate: it polls the pipes, looks at the process tree every few
hundredths of a second, and decides. Limits that the kernel does not bind (RLIMIT_NPROC for uid 0,
memory and CPU time summed over processes) are bound here.
"""

from __future__ import annotations

import os
import select
import time
from dataclasses import dataclass, field
from typing import Literal

from benchmark.sandbox.inside import wire
from benchmark.sandbox.jail import Jail
from benchmark.sandbox.limits import Limits

FIRST_LOOK_S = 0.02
LOOK_S = 0.05
SCRATCH_LOOK_S = 0.25
READ_BYTES = 1 << 18

Ending = Literal["answered", "exited", "timeout", "out_of_memory", "crashed"]


@dataclass
class Watched:
    """How a jail ended: what it answered and printed, and why the parent ended it, if it did."""

    ending: Ending = "exited"
    reason: str = ""
    frame: bytes = b""
    stdout: bytes = b""
    stderr: bytes = b""
    wall_s: float = 0.0


@dataclass
class _Stream:
    """Bytes of one pipe: all of them, or only the end when ``keep`` is set."""

    keep: int | None
    content: bytearray = field(default_factory=bytearray)
    total: int = 0

    def add(self, part: bytes) -> None:
        self.total += len(part)
        self.content += part
        if self.keep is not None and len(self.content) > 2 * self.keep:
            del self.content[: -self.keep]

    def text(self) -> bytes:
        return bytes(self.content if self.keep is None else self.content[-self.keep :])


class Watch:
    """Supervises one jail. ``keep`` bounds the kept end of stdout and stderr (None: keep all)."""

    def __init__(self, jail: Jail, limits: Limits, cores: int, keep: int | None) -> None:
        self.jail = jail
        self.limits = limits
        self.cores = cores
        self.cpu_before_s = 0.0
        self._streams = {
            jail.stdout.fileno(): _Stream(keep),
            jail.stderr.fileno(): _Stream(8192 if keep is None else keep),
        }
        for fd in self._streams:
            os.set_blocking(fd, False)
        self._outer_fd = os.pidfd_open(jail.outer.pid)

    def close(self) -> None:
        os.close(self._outer_fd)

    def until_frame(self, result_fd: int, patience_s: float) -> bytes | None:
        """Wait for one frame of a trusted runner that has no candidate yet; None if none came."""
        reader = _FrameReader(result_fd)
        deadline = time.monotonic() + patience_s
        poller = select.poll()
        poller.register(result_fd, select.POLLIN)
        poller.register(self._outer_fd, select.POLLIN)
        while time.monotonic() < deadline:
            events = dict(poller.poll(max(1.0, (deadline - time.monotonic()) * 1000)))
            if result_fd in events and reader.read():
                return reader.frame
            if self._outer_fd in events:
                return None
        return None

    def run(
        self, request: bytes = b"", control_fd: int | None = None, result_fd: int | None = None
    ) -> Watched:
        """Feed the request, wait for answer or end within the limits; then end the jail."""
        watched = Watched()
        started = time.monotonic()
        try:
            self._loop(watched, started, memoryview(request), control_fd, result_fd)
        finally:
            watched.wall_s = time.monotonic() - started
            self._end(watched)
        return watched

    def _loop(
        self,
        watched: Watched,
        started: float,
        request: memoryview,
        control_fd: int | None,
        result_fd: int | None,
    ) -> None:
        poller = select.poll()
        for fd in (*self._streams, self._outer_fd):
            poller.register(fd, select.POLLIN)
        reader = _FrameReader(result_fd) if result_fd is not None else None
        if result_fd is not None:
            poller.register(result_fd, select.POLLIN)
        if control_fd is not None and request:
            os.set_blocking(control_fd, False)
            poller.register(control_fd, select.POLLOUT)
        clock = _TreeClock(self, started)
        while True:
            for fd, event in poller.poll(clock.wait_ms()):
                if fd == self._outer_fd:
                    watched.ending = "exited"
                    if reader is not None and reader.read():
                        watched.ending, watched.frame = "answered", reader.frame
                    return
                if fd == control_fd:
                    request = _feed(fd, request)
                    if not request or event & select.POLLERR:
                        poller.unregister(fd)
                elif reader is not None and fd == result_fd:
                    if reader.read():
                        watched.ending, watched.frame = "answered", reader.frame
                        return
                    if reader.closed:
                        poller.unregister(fd)
                elif not self._drain(fd):
                    poller.unregister(fd)
            verdict = self._flood() or clock.verdict()
            if verdict is not None:
                watched.ending, watched.reason = verdict
                return

    def _drain(self, fd: int) -> bool:
        """Read what is there; False at the end of the stream."""
        try:
            part = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return True
        self._streams[fd].add(part)
        return bool(part)

    def _flood(self) -> tuple[Ending, str] | None:
        if sum(stream.total for stream in self._streams.values()) > self.limits.output_mb << 20:
            return "crashed", f"printed more than {self.limits.output_mb} MB"
        return None

    def _end(self, watched: Watched) -> None:
        """Kill the tree first, then collect what was still in the pipes."""
        stdout, stderr = (os.dup(fd) for fd in self._streams)
        streams = list(self._streams.values())
        try:
            self.jail.end()
            for fd, stream in zip((stdout, stderr), streams, strict=True):
                _collect(fd, stream, self.limits.output_mb << 20)
        finally:
            for fd in (stdout, stderr, self._outer_fd):
                os.close(fd)
        watched.stdout, watched.stderr = (stream.text() for stream in streams)


def _collect(fd: int, stream: _Stream, limit: int) -> None:
    while stream.total <= limit:
        try:
            part = os.read(fd, READ_BYTES)
        except BlockingIOError:
            return
        if not part:
            return
        stream.add(part)


def _feed(fd: int, request: memoryview) -> memoryview:
    try:
        return request[os.write(fd, request) :]
    except BlockingIOError:
        return request
    except BrokenPipeError:
        return memoryview(b"")


class _FrameReader:
    """Collects one length-prefixed frame from a pipe that a candidate may have written to."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.frame = b""
        self.closed = False
        self._buffer = bytearray()
        self._size: int | None = None
        os.set_blocking(fd, False)

    def read(self) -> bool:
        """Read what is there; True when the frame is complete (or announces nonsense)."""
        while not self.closed:
            # Exactly one frame is taken: what a candidate writes behind it is never looked at.
            wanted = (self._size or wire.LENGTHS.size) - len(self._buffer)
            try:
                part = os.read(self.fd, min(wanted, 1 << 20))
            except BlockingIOError:
                return False
            self.closed = not part
            self._buffer += part
            if self._size is None and len(self._buffer) == wire.LENGTHS.size:
                try:
                    self._size = wire.LENGTHS.size + sum(wire.lengths(bytes(self._buffer)))
                except wire.WireError:
                    self._size = len(self._buffer)  # unpacking it will say what is wrong
            if self._size is not None and len(self._buffer) >= self._size:
                self.frame = bytes(self._buffer)
                return True
        return False


class _TreeClock:
    """Looks at the tree now and then and says when a limit is reached."""

    def __init__(self, watch: Watch, started: float) -> None:
        self.watch = watch
        self.started = started
        self.next_look = started + FIRST_LOOK_S
        self.next_scratch_look = started + SCRATCH_LOOK_S
        self.last_cpu_s = 0.0
        self.last_progress = started

    def wait_ms(self) -> float:
        now = time.monotonic()
        end = self.started + self.watch.limits.wall_s
        return max(0.0, min(self.next_look, end) - now) * 1000 + 0.5

    def verdict(self) -> tuple[Ending, str] | None:
        limits, jail = self.watch.limits, self.watch.jail
        now = time.monotonic()
        if now - self.started >= limits.wall_s:
            return "timeout", f"took more than {limits.wall_s:g} s"
        if now < self.next_look:
            return None
        self.next_look = now + LOOK_S
        usage = jail.usage(limits.processes)
        if usage.processes > limits.processes:
            return "crashed", f"started more than {limits.processes} processes"
        if usage.threads > limits.threads:
            return "crashed", f"started more than {limits.threads} threads"
        if jail.resident_mb(usage) > limits.memory_mb:
            return "out_of_memory", f"used more than {limits.memory_mb} MB"
        return self._scratch(now) or self._cpu(usage.cpu_s, now)

    def _scratch(self, now: float) -> tuple[Ending, str] | None:
        """The private folder; looked at less often, since all its files must be visited."""
        if now < self.next_scratch_look:
            return None
        storage = self.watch.jail.storage()
        limits = self.watch.limits
        # A folder that takes long to visit is visited less often still.
        self.next_scratch_look = now + max(SCRATCH_LOOK_S, 5 * (time.monotonic() - now))
        if storage.megabytes > limits.scratch_mb:
            return "crashed", f"wrote more than {limits.scratch_mb} MB of files"
        if storage.files > limits.files:
            return "crashed", f"wrote more than {limits.files} files"
        if storage.too_deep:
            return "crashed", "nested folders deeper than any path can name"
        return None

    def _cpu(self, used_s: float, now: float) -> tuple[Ending, str] | None:
        limits = self.watch.limits
        cpu_s = used_s - self.watch.cpu_before_s
        budget = limits.cpu_budget(self.watch.cores)
        if cpu_s > budget:
            return "timeout", f"used more than {budget:g} s of CPU time"
        if cpu_s > self.last_cpu_s:
            self.last_cpu_s, self.last_progress = cpu_s, now
        if limits.idle_s is not None and now - self.last_progress > limits.idle_s:
            return "timeout", f"slept for {limits.idle_s:g} s without using CPU time"
        return None
