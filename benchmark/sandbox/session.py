"""One evaluation's use of the sandbox: the :class:`~benchmark.evaluator.Sandbox` given to tasks.

A session turns calls and commands into jails, endings into the failures of the evaluator contract,
and keeps the account (time, memory, output tails) that the evaluation reports.
"""

from __future__ import annotations

import os
import signal
import tarfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from benchmark.artifact import Plain
from benchmark.evaluator import Call, Completed, Crashed, Failure, Invalid, OutOfMemory, TimedOut
from benchmark.sandbox import policy
from benchmark.sandbox.inside import wire
from benchmark.sandbox.launch import Collection, Launcher, Runner
from benchmark.sandbox.limits import Limits
from benchmark.sandbox.watch import Watch, Watched

TAIL_BYTES = 4096
MAX_SOURCE_BYTES = 8 * 2**20


@dataclass
class Account:
    """What the candidate used so far: seconds, MB, and the ends of what it printed.

    Commands of one evaluation may be added from several threads.
    """

    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_mb: float = 0.0
    stdout_tail: str = ""
    stderr_tail: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def add(self, watched: Watched, cpu_s: float, peak_mb: float) -> None:
        with self._lock:
            self.wall_s += watched.wall_s
            self.cpu_s += max(0.0, cpu_s)
            self.peak_mb = max(self.peak_mb, peak_mb)
            self.stdout_tail = _tail(watched.stdout) or self.stdout_tail
            self.stderr_tail = _tail(watched.stderr) or self.stderr_tail


def _tail(content: bytes) -> str:
    return content[-TAIL_BYTES:].decode("utf-8", errors="replace")


class Session:
    """Runs one candidate's code under the given limits, for one evaluation.

    Commands may be run from several threads at a time, calls from one.
    """

    def __init__(
        self,
        launcher: Launcher,
        limits: Limits,
        take_runner: Callable[[Limits], Runner] | None = None,
    ) -> None:
        self.launcher = launcher
        self.limits = limits
        self.account = Account()
        self._take_runner = take_runner or launcher.start_runner

    def call(
        self,
        program: Path,
        calls: Sequence[Call],
        *,
        builtins: Mapping[str, Plain] | None = None,
        random_seed: int | None = None,
        numpy_seed: int | None = None,
        visible: Sequence[Path] = (),
        wall_s: float | None = None,
    ) -> list[Any]:
        """See :meth:`benchmark.evaluator.Sandbox.call`."""
        limits = self.limits
        if wall_s is not None:
            limits = limits.changed(wall_s=min(wall_s, limits.wall_s))
        request = {
            "source": read_source(program),
            "calls": [(call.entry_point, list(call.args)) for call in calls],
            "builtins": dict(builtins or {}),
            "random_seed": random_seed,
            "numpy_seed": numpy_seed,
            "limits": limits.rlimits(self.launcher.threads),
        }
        if visible:  # mounts cannot be added to a sandbox that has been started ahead
            runner = self.launcher.start_runner(limits, visible=visible)
        else:
            runner = self._take_runner(limits)
        watch = Watch(runner.jail, limits, self.launcher.threads, keep=TAIL_BYTES)
        before_s = watch.cpu_before_s = runner.jail.start_up_s()
        try:
            watched = watch.run(wire.pack(request), runner.control_fd, runner.result_fd)
        finally:
            runner.close()
        jail = runner.jail
        self.account.add(watched, jail.cpu_s - before_s, jail.peak_mb)
        return _answer(watched, jail.returncode)

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes | Path = b"",
        files: Mapping[str, bytes] | None = None,
        visible: Sequence[Path] = (),
        outputs: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        wall_s: float | None = None,
        cpu_s: float | None = None,
        memory_mb: int | None = None,
    ) -> Completed:
        """See :meth:`benchmark.evaluator.Sandbox.run`."""
        limits = self.limits.changed(wall_s=wall_s, cpu_s=cpu_s, memory_mb=memory_mb)
        with _nameless() as collected, _opened(stdin) as source:
            jail = self.launcher.start_command(
                argv,
                limits,
                env=env,
                files=files,
                visible=visible,
                stdin=source.fileno(),
                collect=Collection(outputs, collected.fileno()) if outputs else None,
            )
            watch = Watch(jail, limits, self.launcher.threads, keep=None)
            # The command runs since the jail was started, so no more can be subtracted from its
            # CPU time: with bubblewrap, building the sandbox (some milliseconds) is in the account.
            watch.cpu_before_s = jail.built_s
            watched = watch.run()
            cpu_s = jail.cpu_s - jail.built_s
            self.account.add(watched, cpu_s, jail.peak_mb)
            _raise_if_ended(watched)
            assert jail.returncode is not None
            return Completed(
                returncode=_signalled(jail.returncode),
                stdout=watched.stdout,
                stderr=watched.stderr,
                outputs=_read_outputs(collected, outputs, limits.scratch_mb << 20),
                wall_s=watched.wall_s,
                cpu_s=cpu_s,
                peak_mb=jail.peak_mb,
            )


def read_source(program: Path) -> str:
    """The text of a candidate. Raises :class:`Invalid` when it is too large or not UTF-8."""
    if program.stat().st_size > MAX_SOURCE_BYTES:
        raise Invalid(f"the program is larger than {MAX_SOURCE_BYTES >> 20} MiB")
    try:
        return program.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"the program is not UTF-8 text (byte {error.start})") from None


def _answer(watched: Watched, returncode: int | None) -> list[Any]:
    _raise_if_ended(watched)
    if watched.ending == "exited":
        raise Crashed(_exit_reason(returncode))
    try:
        message = wire.unpack(watched.frame)
        status = message["status"]
        if status == "returned":
            values = message["values"]
            if isinstance(values, list):
                return values
        elif status in _FAILURES:
            raise _FAILURES[status](_printable(str(message["reason"])[:500]))
    except (wire.WireError, TypeError, KeyError):
        pass
    raise Invalid("the program wrote something else than its answer into the result pipe")


def _printable(text: str) -> str:
    """One line of text that cannot command a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


_FAILURES: dict[str, type[Failure]] = {
    "invalid": Invalid,
    "raised": Crashed,
    "out_of_memory": OutOfMemory,
}


def _raise_if_ended(watched: Watched) -> None:
    failures: dict[str, type[Failure]] = {
        "timeout": TimedOut,
        "out_of_memory": OutOfMemory,
        "crashed": Crashed,
    }
    if watched.ending in failures:
        raise failures[watched.ending](watched.reason)


def _exit_reason(returncode: int | None) -> str:
    code = _signalled(returncode or 0)
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"killed by {name} before it returned"
    return f"exited with status {code} before it returned"


def _signalled(returncode: int) -> int:
    """Bubblewrap reports a signal of the inner process as 128 + number, as shells do."""
    return 128 - returncode if 128 < returncode < 128 + 65 else returncode


def _opened(stdin: bytes | Path) -> IO[bytes]:
    """The input as a file that a candidate cannot change, nor learn a path from."""
    content = stdin.read_bytes() if isinstance(stdin, Path) else stdin
    return open(policy.memory_file(content, sealed=True), "rb")


def _nameless() -> IO[bytes]:
    return open(policy.memory_file(b""), "rb")


def _read_outputs(archive: IO[bytes], wanted: Sequence[str], limit: int) -> dict[str, bytes]:
    """The regular files ``wanted`` of an untrusted tar archive; everything else is ignored."""
    found: dict[str, bytes] = {}
    if not wanted or os.fstat(archive.fileno()).st_size > 2 * limit:
        return found
    archive.seek(0)
    try:
        with tarfile.open(fileobj=archive, mode="r:") as tar:
            for member in tar:
                if member.isreg() and member.name in wanted and member.size <= limit:
                    content = tar.extractfile(member)
                    assert content is not None
                    found[member.name] = content.read()
    except (tarfile.TarError, OSError, ValueError, EOFError, OverflowError):
        return found
    return found
