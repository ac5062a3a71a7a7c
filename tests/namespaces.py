"""Mounts for tests: scripts that run in a mount namespace of their own, with small or closed disks.

File modes mean nothing to root, so a full or a read-only disk has to be a real one. What is mounted
in the namespace is seen by its processes alone and goes with them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
_UNSHARE = ["unshare", "--mount", "--propagation", "private"]


@cache
def _command() -> tuple[str, ...]:
    """The words that start a command in a namespace where it may mount, or none."""
    user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    command = [*_UNSHARE, *user]
    probe = [*command, "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"]
    if shutil.which("unshare") is None or subprocess.run(probe, capture_output=True).returncode:
        return ()
    return tuple(command)


def require_mounts() -> None:
    """Skip the test where nothing can be mounted."""
    if not _command():
        pytest.skip("unshare is not permitted to mount here: no full or read-only disk to be had")


def run_with_mounts(
    script: str, *arguments: object, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run a Python script that may use :func:`tmpfs`, :func:`resized` and :func:`read_only`.

    ``check``: fails with what it printed unless it ends with 0. Skips where mounts are not to be
    had.
    """
    require_mounts()
    paths = [str(TESTS.parent), str(TESTS), str(TESTS / "method")]
    head = f"import sys; sys.path[:0] = {paths!r}\nfrom namespaces import *\n"
    words = [*_command(), sys.executable, "-c", head + script, *map(str, arguments)]
    answer = subprocess.run(words, capture_output=True, text=True, check=False, cwd=TESTS.parent)
    assert not check or answer.returncode == 0, answer.stdout + answer.stderr
    return answer


def evoduet(*arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
    """The command line."""
    words = [sys.executable, "-m", "benchmark.cli", *map(str, arguments)]
    return subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, **env}
    )


def tmpfs(folder: Path, size: str) -> Path:
    """A disk of this size at a new folder. For scripts of :func:`run_with_mounts` alone."""
    folder.mkdir(parents=True, exist_ok=True)
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    return folder


def resized(folder: Path, size: str) -> None:
    """Somebody made room."""
    _mount("-o", f"remount,size={size}", str(folder))


def read_only(folder: Path) -> None:
    """The folder as a disk that cannot be written."""
    _mount("--bind", str(folder), str(folder))
    _mount("-o", "remount,bind,ro", str(folder))


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


__all__: Sequence[str] = ("evoduet", "read_only", "resized", "tmpfs")
