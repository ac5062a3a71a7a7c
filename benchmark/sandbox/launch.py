"""Choosing a backend and starting jails with it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from benchmark.sandbox import bubblewrap, policy
from benchmark.sandbox.inside import wire
from benchmark.sandbox.jail import Jail, SandboxBroken
from benchmark.sandbox.limits import Limits
from benchmark.sandbox.watch import Watch

RUNNER_PATIENCE_S = 60.0


@dataclass
class Runner:
    """A started interpreter that waits for one candidate; ``cpu_s`` is what starting it cost."""

    jail: Jail
    control_fd: int
    result_fd: int
    cpu_s: float

    def close(self) -> None:
        """Close the pipes; the jail is ended by whoever watches it."""
        os.close(self.control_fd)
        os.close(self.result_fd)

    def discard(self) -> None:
        """End a runner that nobody needs any more."""
        self.jail.end()
        self.close()


class Launcher:
    """Starts jails with one backend, one network setting and one number of threads."""

    def __init__(self, backend: ModuleType, threads: int, network: bool = False) -> None:
        self.backend = backend
        self.threads = threads
        self.network = network

    @property
    def isolation(self) -> str:
        """What is recorded in every evaluation."""
        level: str = self.backend.level()
        return f"{level}+network" if self.network else level

    def start_runner(
        self, limits: Limits, warm: Sequence[str] = (), visible: Sequence[Path] = ()
    ) -> Runner:
        """Start an interpreter inside a jail and wait until it is ready for its candidate."""
        shown = policy.visible()
        control_read, control_write = os.pipe()
        result_read, result_write = os.pipe()
        try:
            jail = self._start(
                _runner_command(self.backend.INSIDE, control_read, result_write, warm, visible),
                limits,
                visible=visible,
                env=policy.environment(self.threads, self.backend.SCRATCH),
                pass_fds=[control_read, result_write],
            )
        except BaseException:
            os.close(control_write)
            os.close(result_read)
            raise
        finally:
            os.close(control_read)
            os.close(result_write)
        runner = Runner(jail, control_write, result_read, 0.0)
        watch = Watch(jail, limits, self.threads, keep=2000)
        ready = watch.until_frame(result_read, RUNNER_PATIENCE_S)
        watch.close()
        if ready is None:
            reason = _last_words(jail)
            runner.discard()
            raise SandboxBroken(f"{shown.interpreter} does not start in the sandbox: {reason}")
        runner.cpu_s = float(wire.unpack(ready)["cpu_s"])
        return runner

    def start_command(
        self,
        argv: Sequence[str],
        limits: Limits,
        *,
        env: Mapping[str, str] | None,
        files: Mapping[str, bytes] | None,
        visible: Sequence[Path],
        stdin: int,
        pass_fds: Sequence[int],
    ) -> Jail:
        """Start a command under a shell that sets its rlimits and waits for it."""
        settings = policy.environment(self.threads, self.backend.SCRATCH, env)
        return self._start(
            ["/bin/sh", "-c", _ulimits(limits, self.threads) + ' "$@"', "sh", *argv],
            limits,
            env=settings,
            files=files,
            visible=visible,
            stdin=stdin,
            pass_fds=pass_fds,
        )

    def _start(self, argv: Sequence[str], limits: Limits, **options: object) -> Jail:
        jail: Jail = self.backend.start(argv, limits=limits, network=self.network, **options)
        return jail


def choose(isolation: str, threads: int, network: bool = False) -> Launcher:
    """A launcher for ``auto``, ``bubblewrap`` or ``process``.

    ``auto`` takes the strongest backend that works here. Raises :class:`SandboxBroken` when the
    named one does not work.
    """
    if isolation in ("auto", "bubblewrap"):
        return Launcher(bubblewrap, threads, network)
    raise SandboxBroken(f"unknown isolation {isolation!r}: use auto, bubblewrap or process")


def _runner_command(
    inside: str,
    control_fd: int,
    result_fd: int,
    warm: Sequence[str],
    visible: Sequence[Path],
) -> list[str]:
    shown = policy.visible()
    site_dirs = [str(path) for path in (*visible, *shown.site_dirs)]
    code = (
        f"import sys; sys.path.insert(0, {inside!r}); import runner; "
        f"runner.main({control_fd}, {result_fd}, {site_dirs}, {list(shown.hidden_imports)}, "
        f"{list(warm)})"
    )
    return [str(shown.interpreter), "-I", "-S", "-B", "-u", "-c", code]


def _ulimits(limits: Limits, cores: int) -> str:
    values = limits.rlimits(cores)
    return (
        f"ulimit -v {values['RLIMIT_AS'] >> 10}; ulimit -t {values['RLIMIT_CPU']};"
        f" ulimit -n {values['RLIMIT_NOFILE']}; ulimit -f {values['RLIMIT_FSIZE'] >> 9};"
        " ulimit -c 0;"
    )


def _last_words(jail: Jail) -> str:
    os.set_blocking(jail.stderr.fileno(), False)
    text = (jail.stderr.read() or b"").decode(errors="replace").strip()
    return text.splitlines()[-1] if text else "no answer"
