"""What makes a score reproducible: digests of evaluator and data, versions, platform."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

from benchmark.task import Task

_LIBRARIES = ("evoduet", "numpy", "scipy")


def sha256_file(path: Path) -> str:
    """Sha256 of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def evaluator_digest(task: Task) -> str:
    """Sha256 over everything that decides a score: the task's files and what it shares.

    Covers the task folder (``task.toml``, ``*.py``, ``data/``), the modules beside it, and the
    harness modules that convert and score. Text that only methods read is left out.
    """
    files = [
        task.folder / "task.toml",
        *task.folder.rglob("*.py"),
        *task.folder.parent.glob("*.py"),
    ]
    if (task.folder / "data").is_dir():
        files += [path for path in (task.folder / "data").rglob("*") if path.is_file()]
    here = Path(__file__).parent
    files += [here / "candidates.py", here / "artifact.py", here / "sandbox/inside/wire.py"]
    digest = hashlib.sha256()
    for path in sorted(set(files)):
        if path == task.initial_program:
            continue
        base = here if path.is_relative_to(here) else task.folder.parent
        digest.update(path.relative_to(base).as_posix().encode() + b"\0")
        digest.update(bytes.fromhex(sha256_file(path)))
    return digest.hexdigest()


@cache
def versions(extra: tuple[str, ...] = ()) -> dict[str, str]:
    """Versions of Python and of the libraries that take part in scoring."""
    found = {"python": platform.python_version()}
    for name in (*_LIBRARIES, *extra):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


@cache
def machine() -> dict[str, str]:
    """Operating system, processor and number of cores that this process may use."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "cpu": _cpu_model(),
        "cores": str(cores()),
        "byteorder": sys.byteorder,
    }


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
