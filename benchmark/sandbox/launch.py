"""Choosing a backend and starting jails with it."""

from __future__ import annotations

import logging
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from benchmark.sandbox import bubblewrap, policy, process
from benchmark.sandbox.jail import Jail, SandboxBroken, last_line
from benchmark.sandbox.limits import Limits
from benchmark.sandbox.watch import Watch

RUNNER_PATIENCE_S = 60.0
ISOLATIONS = ("auto", "bubblewrap", "process")

log = logging.getLogger(__name__)


@dataclass
class Runner:
    """A started interpreter that waits for one candidate."""

    jail: Jail
    control_fd: int
    result_fd: int

    def close(self) -> None:
        """Close the pipes; the jail is ended by whoever watches it."""
        os.close(self.control_fd)
        os.close(self.result_fd)

    def discard(self) -> None:
        """End a runner that nobody needs any more."""
        try:
            self.jail.end()
        finally:
            self.close()


@dataclass(frozen=True)
class Collection:
    """Files of the private folder to be archived into a descriptor when the command is over."""

    names: Sequence[str]
    fd: int


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
        control_read, control_write = os.pipe()
        result_read, result_write = os.pipe()
        try:
            jail = self._start(
                _runner_command(self.backend, control_read, result_write, warm, visible),
                limits,
                visible=visible,
                env=policy.environment(self.threads),
                pass_fds=[control_read, result_write],
            )
        except BaseException:
            os.close(control_write)
            os.close(result_read)
            raise
        finally:
            os.close(control_read)
            os.close(result_write)
        runner = Runner(jail, control_write, result_read)
        try:
            _wait_until_ready(runner, limits, self.threads)
        except BaseException:
            runner.discard()
            raise
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
        collect: Collection | None,
    ) -> Jail:
        """Start a command under a shell that sets its rlimits, waits for it, collects its files."""
        become = shlex.join(self.backend.becoming_nobody(visible))
        script = f'{_ulimits(limits, self.threads)} {become} "$@"; status=$?'
        if collect is not None:
            names = shlex.join(collect.names)
            script += f"; {become} tar -cf /proc/self/fd/{collect.fd} -- {names} 2>/dev/null"
        return self._start(
            ["/bin/sh", "-c", script + "; exit $status", "sh", *argv],
            limits,
            env=policy.environment(self.threads, env),
            files=files,
            visible=visible,
            stdin=stdin,
            pass_fds=[collect.fd] if collect is not None else [],
        )

    def _start(self, argv: Sequence[str], limits: Limits, **options: object) -> Jail:
        jail: Jail = self.backend.start(argv, limits=limits, network=self.network, **options)
        return jail


def choose(isolation: str, threads: int, network: bool = False) -> Launcher:
    """A launcher for ``auto``, ``bubblewrap`` or ``process``.

    ``auto`` takes the strongest backend that works here and says so, once, if it is the weaker one.
    Raises :class:`SandboxBroken` when the named one, or none, works.
    """
    if isolation not in ISOLATIONS:
        raise SandboxBroken(f"unknown isolation {isolation!r}: use {', '.join(ISOLATIONS)}")
    if sys.platform != "linux":
        raise SandboxBroken(f"programs can be isolated on Linux only, not on {sys.platform}")
    backend = process if isolation == "process" else bubblewrap
    problem = _problem(backend)
    if isolation == "auto" and problem:
        _require_process(problem)
        backend, problem = process, ""
    if problem:
        raise SandboxBroken(f"{problem}; {_REMEDIES[backend.NAME]}")
    return Launcher(backend, threads, network)


_REMEDIES = {
    bubblewrap.NAME: "allow unprivileged user namespaces (sysctl user.max_user_namespaces, "
    "kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0; in a "
    "container: a seccomp profile that permits unshare and mount), or use --isolation process",
    process.NAME: "it needs Linux with /proc, a writable temporary folder (TMPDIR) and an "
    "interpreter that this user can execute",
}


@cache
def _require_process(why: str) -> None:
    """Check the weaker backend and announce it, once per process."""
    problem = _problem(process)
    if problem:
        raise SandboxBroken(f"no isolation works here: {why}; {problem}")
    trust = "" if process.level() != process.NAME else ", which a hostile program can break out of"
    log.warning("%s: candidates run at isolation level %s%s", why, process.level(), trust)


@cache
def _problem(backend: ModuleType) -> str:
    """Why a backend does not work here, from a real jail that does nothing; empty when it does."""
    limits = Limits(wall_s=RUNNER_PATIENCE_S)
    try:
        jail = backend.start(["/bin/sh", "-c", "exit 7"], limits=limits, env={})
        watched = Watch(jail, limits, cores=1, keep=1000).run()
    except (SandboxBroken, OSError) as error:
        return f"{backend.NAME} does not work here: {error}"
    if jail.returncode != 7:
        said = last_line(watched.stderr) or f"status {jail.returncode}"
        return f"{backend.NAME} does not work here: {said}"
    return ""


def _wait_until_ready(runner: Runner, limits: Limits, cores: int) -> None:
    watch = Watch(runner.jail, limits, cores, keep=2000)
    try:
        ready = watch.until_frame(runner.result_fd, RUNNER_PATIENCE_S)
    finally:
        watch.close()
    if ready is None:
        interpreter = policy.visible().interpreter
        words = _last_words(runner.jail)
        raise SandboxBroken(f"{interpreter} does not start in the sandbox: {words}")


def _runner_command(
    backend: ModuleType,
    control_fd: int,
    result_fd: int,
    warm: Sequence[str],
    visible: Sequence[Path],
) -> list[str]:
    shown = policy.visible()
    site_dirs = [str(path) for path in (*visible, *shown.site_dirs)]
    user = policy.INSIDE_ID if backend.becoming_nobody(visible) else None
    code = (
        f"import sys; sys.path.insert(0, {backend.INSIDE!r}); {backend.PRELUDE}import runner; "
        f"runner.main({control_fd}, {result_fd}, {site_dirs}, {list(shown.hidden_imports)}, "
        f"{list(warm)}, {user})"
    )
    return [str(shown.interpreter), "-I", "-S", "-B", "-u", "-c", code]


def _ulimits(limits: Limits, cores: int) -> str:
    values = limits.rlimits(cores)
    return (
        f"ulimit -v {values['RLIMIT_AS'] >> 10}; ulimit -t {values['RLIMIT_CPU']};"
        f" ulimit -n {values['RLIMIT_NOFILE']}; ulimit -f {values['RLIMIT_FSIZE'] >> 9};"
        f" ulimit -c 0; ulimit -u {values['RLIMIT_NPROC']} 2>/dev/null"
        f" || ulimit -p {values['RLIMIT_NPROC']} 2>/dev/null;"  # the letter depends on the shell
    )


def _last_words(jail: Jail) -> str:
    os.set_blocking(jail.stderr.fileno(), False)
    return last_line(jail.stderr.read() or b"") or "no answer"
