"""What makes a score reproducible: digests of evaluator and data, versions, platform."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

from benchmark.task import Task

_LIBRARIES = ("evoduet", "numpy", "scipy")
COMPILERS = ("g++", "rustc")
"""Commands whose versions decide what a compiled candidate does."""

_COMPILER_PATIENCE_S = 10.0


def sha256_file(path: Path) -> str:
    """Sha256 of a file's content, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def evaluator_digest(task: Task) -> str:
    """Sha256 over everything that decides a score: the task's files and what it shares.

    Covers the task folder (``task.toml``, ``*.py``, ``data/``), the modules and data that it shares
    with the tasks beside it, and the harness modules that convert and score. Text that only
    methods read and the initial program are left out.
    """
    here = Path(__file__).parent
    files = {here / "candidates.py", here / "artifact.py", here / "sandbox/inside/wire.py"}
    files |= {path for path in _own_and_shared(task) if _decides(path, task)}
    digest = hashlib.sha256()
    for path in sorted(files):
        base = here if path.is_relative_to(here) else task.folder.parent
        digest.update(path.relative_to(base).as_posix().encode() + b"\0")
        digest.update(bytes.fromhex(sha256_file(path)))
    return digest.hexdigest()


def _own_and_shared(task: Task) -> Iterator[Path]:
    """Files of the task and of its domain folder, without those of other tasks.

    A task folder outside any package stands alone: what lies beside it is none of its business.
    """
    if task.package is None:
        yield from (path for path in task.folder.rglob("*") if path.is_file())
        return
    for entry in task.folder.parent.iterdir():
        if entry.is_file():
            yield entry
        elif entry == task.folder or not (entry / "task.toml").exists():
            yield from (path for path in entry.rglob("*") if path.is_file())


def _decides(path: Path, task: Task) -> bool:
    if "__pycache__" in path.parts or path == task.initial_program:
        return False
    return path.suffix != ".md"


@cache
def versions(extra: tuple[str, ...] = ()) -> dict[str, str]:
    """Versions of Python and of the libraries that take part in scoring.

    ``extra`` are import names, as ``requires`` in ``task.toml`` has them.
    """
    found = {"python": platform.python_version()}
    for name in (*_LIBRARIES, *extra):
        version = _version(name)
        if version is not None:
            found[name] = version
    return found


def _version(module: str) -> str | None:
    """Version of the distribution that is named like a module, or else of the one that has it."""
    try:
        return metadata.version(module)
    except metadata.PackageNotFoundError:
        owners = _owners().get(module, [])
        return metadata.version(owners[0]) if owners else None


@cache
def _owners() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


@cache
def machine() -> dict[str, str]:
    """Operating system, processor, number of cores that this process may use, and compilers."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "cpu": _cpu_model(),
        "cores": str(cores()),
        "byteorder": sys.byteorder,
        **compilers(),
    }


@cache
def compilers() -> dict[str, str]:
    """First line of what each compiler that is here says of its version."""
    found = {}
    for command in COMPILERS:
        path = shutil.which(command)
        if path is None:
            continue
        try:
            answer = subprocess.run(
                [path, "--version"],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_COMPILER_PATIENCE_S,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if answer.returncode == 0 and answer.stdout:
            found[command] = answer.stdout.splitlines()[0].strip()
    return found


def installed() -> dict[str, str]:
    """Name and version of every distribution that this interpreter finds, sorted by name."""
    found: dict[str, str] = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            found.setdefault(name.lower().replace("_", "-"), distribution.version)
    return dict(sorted(found.items()))


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
