"""The program inside the sandbox that loads one candidate, calls it once and hands over the result.

Started as ``python -I -S -c "import runner; runner.main()"`` with two pipes. It may be started
ahead of time with libraries imported (a prewarmed sandbox); it serves one request and never a
second. Everything here shares a process with the candidate, so nothing that it says is trusted
beyond being the candidate's own answer: limits and verdicts are the parent's.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from benchmark.sandbox.inside import wire
else:
    import wire

SCRATCH_PROGRAM = "candidate.py"


def main(
    control_fd: int,
    result_fd: int,
    site_dirs: list[str],
    hidden: list[str],
    warm: list[str],
    user: int | None,
) -> NoReturn:
    """Split into a reaper, which the harness watches, and the one that runs the candidate.

    ``user`` is whom the candidate must become, where the reaper is root.
    """
    _close_others({control_fd, result_fd})
    child = os.fork()
    if child:
        os.close(control_fd)
        os.close(result_fd)
        _reap_until(child)
    if user is not None:
        _become(user)
    _prepare(site_dirs, hidden, warm)
    _write(result_fd, wire.pack("ready"))
    request = _receive(control_fd)
    os.close(control_fd)
    _limit(request["limits"])
    _write(result_fd, _serve(request))
    while True:  # the parent ends this process: no exit handler, no late thread gets a say
        _sleep_forever()


def _become(user: int) -> None:
    import ctypes

    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    set_dumpable = 4  # the kernel took it away: /proc/self would be closed to the process itself
    ctypes.CDLL(None).prctl(set_dumpable, 1, 0, 0, 0)


def _close_others(needed: set[int]) -> None:
    """Whatever else this process was given by who built the sandbox."""
    for fd in range(3, 256):
        if fd not in needed:
            try:
                os.close(fd)
            except OSError:
                pass


def _reap_until(child: int) -> NoReturn:
    """Collect every process that ends, so that its CPU time is accounted for; then follow."""
    while True:
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def _prepare(site_dirs: list[str], hidden: list[str], warm: list[str]) -> None:
    sys.path[:] = [entry for entry in sys.path if entry != os.path.dirname(__file__)]
    sys.path.extend(site_dirs)
    for name in hidden:  # masked folders would import as empty namespace packages
        sys.modules[name] = None  # type: ignore[assignment]
    for name in warm:
        try:
            __import__(name)
        except ImportError:
            pass


def _serve(request: dict[str, Any]) -> bytes:
    """The frame to send: values are encoded here, so that what cannot be encoded is a verdict."""
    try:
        return _call(request)
    except MemoryError:
        return wire.pack({"status": "out_of_memory", "reason": "MemoryError"})
    except (wire.WireError, _NoEntryPoint) as error:
        return wire.pack({"status": "invalid", "reason": str(error)})
    except BaseException as error:  # SystemExit and KeyboardInterrupt are the candidate's too
        return wire.pack({"status": "raised", "reason": _describe(error)})


def _call(request: dict[str, Any]) -> bytes:
    program = os.path.abspath(SCRATCH_PROGRAM)
    with open(program, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(request["source"])
    sys.path.insert(0, os.getcwd())
    sys.argv = [program]
    if request["random_seed"] is not None:
        import random

        random.seed(request["random_seed"])
    if request["numpy_seed"] is not None:
        import numpy

        numpy.random.seed(request["numpy_seed"])
    import builtins

    for name, value in request["builtins"].items():
        setattr(builtins, name, value)
    import types

    module = types.ModuleType("candidate")
    module.__file__ = program
    sys.modules["candidate"] = module
    exec(compile(request["source"], program, "exec"), module.__dict__)
    nodes = []
    blobs = wire.Blobs()
    for entry_point, args in request["calls"]:
        function = module.__dict__.get(entry_point)
        if not callable(function):
            raise _NoEntryPoint(f"the program defines no function {entry_point}()")
        # At once: the program may return the same array again, with other values.
        nodes.append(wire.encode(function(*args), blobs))
    return wire.pack_answers(nodes, blobs)


class _NoEntryPoint(Exception):
    pass


def _describe(error: BaseException) -> str:
    """One line for the verdict; the whole traceback goes to stderr, without this file's frames."""
    import traceback

    shown = error.__traceback__
    while shown is not None and shown.tb_frame.f_code.co_filename == __file__:
        shown = shown.tb_next
    try:
        traceback.print_exception(type(error), error, shown, limit=-20)
        sys.stderr.flush()
    except BaseException:
        os.write(2, b"(the traceback could not be printed)\n")
    if isinstance(error, SystemExit):
        return "exited before returning"
    name = type(error).__name__
    try:
        text = " ".join(str(error).split())[:300]
    except BaseException:
        text = ""
    if isinstance(error, SyntaxError):
        return f"{name}: {error.msg} (line {error.lineno})"
    frames = traceback.extract_tb(shown)
    lines = [frame.lineno for frame in frames if frame.filename.endswith(SCRATCH_PROGRAM)]
    where = f" (line {lines[-1]})" if lines else ""
    return f"{name}: {text}{where}" if text else f"{name}{where}"


def _limit(limits: dict[str, int]) -> None:
    import resource

    for name, value in limits.items():
        which = getattr(resource, name)
        if name == "RLIMIT_CPU":
            value += int(sum(os.times()[:2])) + 1
        hard = resource.getrlimit(which)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        resource.setrlimit(which, (value, value))


def _write(fd: int, frame: bytes) -> None:
    rest = memoryview(frame)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _receive(fd: int) -> Any:
    head = _read_exactly(fd, wire.LENGTHS.size)
    header, blob = wire.lengths(head)
    return wire.unpack(head + _read_exactly(fd, header + blob))


def _read_exactly(fd: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(fd, min(size, 1 << 20))
        if not part:
            os._exit(0)  # the parent went away before it had a candidate
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _sleep_forever() -> None:
    import time

    time.sleep(3600)
