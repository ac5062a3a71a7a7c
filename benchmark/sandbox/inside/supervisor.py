"""The trusted process at the top of a jail without namespaces: it confines, reaps and ends.

It starts the untrusted command as its child, confined before it executes anything. Processes that
leave their parent or session come back to it (it is their sub-reaper), so it can end them all. It
does so when the command is over, when the harness asks (SIGTERM) and when it dies (SIGHUP).
Where Landlock knows signals, the candidate's processes cannot signal this one, and it can signal
nothing but them: one ``kill(-1)`` ends all of them at once, however fast they fork.
"""

from __future__ import annotations

import ctypes
import marshal
import os
import signal
import struct
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from benchmark.sandbox.inside import landlock, seccomp, tree
else:
    import landlock
    import seccomp
    import tree

_SET_DEATH_SIGNAL, _SET_DUMPABLE, _KEEP_CAPABILITIES, _DROP_BOUNDING = 1, 4, 8, 24
_SET_SUBREAPER, _NO_NEW_PRIVILEGES, _AMBIENT, _RAISE = 36, 38, 47, 2
_READ_AND_SEARCH = 2
_SET_SECUREBITS, _NO_SETUID_FIXUP_LOCKED = 28, 1 << 2 | 1 << 3

_END, _HARNESS_DIED = signal.SIGTERM, signal.SIGHUP
_CAPABILITY_VERSION_3 = 0x20080522
_NEW_NETWORK_NAMESPACE = 0x40000000


def main(settings_fd: int) -> NoReturn:
    """Read the settings, start the command, wait, end everything, exit with its status.

    Settings (marshalled dictionary): ``harness`` process id, ``argv``, ``paths`` for Landlock
    (``None``: do without), ``network``, ``tasks`` (RLIMIT_NPROC), ``user`` to become (or
    ``None``), the private ``folder``, and ``report``, the descriptor that hears the id of the
    command's process and the CPU time (ns) that went before it, or what went wrong.
    """
    with open(settings_fd, "rb") as file:
        settings = marshal.loads(file.read())
    report = settings["report"]
    os.set_inheritable(report, False)
    _prctl(_SET_SUBREAPER, 1)
    _prctl(_SET_DEATH_SIGNAL, _HARNESS_DIED)
    if os.getppid() != settings["harness"]:  # it died before we could ask to be told
        _tidy_up(settings["folder"])
    signal.pthread_sigmask(signal.SIG_BLOCK, {_END, _HARNESS_DIED, signal.SIGCHLD})
    _prctl(_NO_NEW_PRIVILEGES, 1)
    alone = settings["paths"] is not None and landlock.abi() >= landlock.SIGNALS_SINCE
    if alone:
        landlock.keep_signals()
    supervisor = os.getpid()
    child = os.fork()
    if not child:
        _become_command(settings, supervisor)
    os.write(report, b"%d %d\n" % (child, time.process_time_ns()))
    os.close(report)
    status, orphaned = _wait_for(child)
    _end_all(alone)
    # A dying harness may still be our parent: its threads die one after the other.
    if orphaned or _HARNESS_DIED in signal.sigpending() or os.getppid() != settings["harness"]:
        _tidy_up(settings["folder"])
    os._exit(status)


def _become_command(settings: dict[str, Any], supervisor: int) -> NoReturn:
    """In the child: confine, then execute. Failures are reported to the harness."""
    try:
        os.setsid()
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, commands must not
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        protected = (settings["harness"], supervisor, -os.getpgid(supervisor),
                     -os.getpgid(settings["harness"]))  # fmt: skip
        filter_program = seccomp.program(seccomp.without_namespaces(protected, settings["network"]))
        if not filter_program and not settings["network"]:
            _leave_network()
        _limit_tasks(settings["tasks"])
        _drop_privileges(settings["user"], settings["paths"] is not None)
        if settings["paths"] is not None:
            landlock.restrict(settings["paths"], settings["network"])
        if filter_program:
            seccomp.install(filter_program)
        argv = settings["argv"]
        os.execve(argv[0], argv, os.environ)
    except BaseException as error:
        os.write(settings["report"], f"error: {error}\n".encode())
    os._exit(1)


def _limit_tasks(tasks: int) -> None:
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    if hard != resource.RLIM_INFINITY:
        tasks = min(tasks, hard)
    resource.setrlimit(resource.RLIMIT_NPROC, (tasks, tasks))


def _leave_network() -> None:
    """Where system calls cannot be filtered: an empty network, if this process may have one."""
    ctypes.CDLL(None).unshare(_NEW_NETWORK_NAMESPACE)


def _drop_privileges(user: int | None, behind_landlock: bool) -> None:
    """Give up all capabilities for good, and be ``user`` from now on.

    Landlock decides what can be read; behind it one capability stays, to go through folders that
    only root may enter (an interpreter below root's home). ``access(2)``, which compilers ask
    before they open, would ignore it for any user but root; the secure bit says that it must not.
    """
    kept = _READ_AND_SEARCH if user is not None and behind_landlock else None
    for capability in range(64):
        if capability != kept:
            _prctl(_DROP_BOUNDING, capability)
    if user is not None:
        _prctl(_KEEP_CAPABILITIES, 1)
        if kept is not None:
            _prctl(_SET_SECUREBITS, _NO_SETUID_FIXUP_LOCKED)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        _prctl(_SET_DUMPABLE, 1)
    mask = 1 << kept if kept is not None else 0
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    if ctypes.CDLL(None).capset(header, struct.pack("=6I", mask, mask, mask, 0, 0, 0)):
        raise OSError("capabilities cannot be given up")
    if kept is not None and ctypes.CDLL(None).prctl(_AMBIENT, _RAISE, kept, 0, 0):
        raise OSError("the capability to search folders cannot be kept")


def _wait_for(child: int) -> tuple[int, bool]:
    """Reap until the command is over or a signal says so.

    The exit status as a shell tells it, and whether the harness is dead.
    """
    while True:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return (code if code >= 0 else 128 - code), False
        if not pid:
            number = signal.sigwait({_END, _HARNESS_DIED, signal.SIGCHLD})
            if number != signal.SIGCHLD:
                return 128 + number, number == _HARNESS_DIED


def _end_all(alone: bool) -> None:
    """Kill and reap until there is no descendant left. ``alone``: only they get our signals."""
    while True:
        if alone:
            tree.kill_quietly(-1)
        else:
            tree.kill_below(os.getpid())
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.001)


def _tidy_up(folder: str) -> NoReturn:
    """The last deed where the harness is not there any more to remove the folder."""
    os.execv("/bin/rm", ["rm", "-rf", "--", folder])


def _prctl(option: int, value: int) -> int:
    return int(ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0))
