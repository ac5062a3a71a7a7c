"""Running a hostile program and looking for what it may have left behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmark import Evaluation, evaluate
from benchmark.harness import Harness
from benchmark.sandbox.inside import tree

HERE = Path(__file__).parent / "attacks"
TASK = str(HERE / "task")
PROGRAMS = HERE / "programs"
HONEST = 1.0
MARKER = "evoduet-attack-marker"
PLACES = ("/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/etc", "/root", "/home", "/usr/local",
          "/work")  # fmt: skip


def attack(
    name: str, folder: Path, harness: Harness, wall_s: float = 3.0, **constants: object
) -> Evaluation:
    """Evaluate a copy of a program in which the given constants have their values."""
    text = (PROGRAMS / f"{name}.py").read_text()
    for constant, value in constants.items():
        lines = [line for line in text.splitlines() if line.startswith(f"{constant} = ")]
        assert len(lines) == 1, f"{name}.py: one line must set {constant}"
        text = text.replace(lines[0], f"{constant} = {value!r}")
    program = folder / f"{name}.py"
    program.write_text(text)
    return evaluate(TASK, program, wall_s=wall_s, harness=harness)


@contextmanager
def nothing_left(folder: Path) -> Iterator[None]:
    """Fails if processes (zombies included), descriptors or files are left when the block ends.

    Whatever escapes from its parents in here ends as a child of the test's process, which must be
    a sub-reaper.
    """
    temporary = folder / "temporary"
    temporary.mkdir()
    before = set(tree.descendants(os.getpid()))
    descriptors = set(os.listdir("/proc/self/fd"))
    previous, tempfile.tempdir = tempfile.tempdir, str(temporary)
    try:
        yield
    finally:
        tempfile.tempdir = previous
    left = set(tree.descendants(os.getpid())) - before
    assert not left, f"processes left: {[_name(pid) for pid in left]}"
    assert os.listdir(temporary) == []
    assert len(os.listdir("/proc/self/fd")) == len(descriptors)
    assert markers() == []


def markers() -> list[Path]:
    """Files that ``writing_outside.py`` managed to leave on this machine."""
    root = HERE.parents[1]
    places = [Path(name) for name in PLACES] + [root, root.parent, HERE, PROGRAMS]
    places += [Path(entry) for entry in os.environ.get("PYTHONPATH", "").split(":") if entry]
    return [place / MARKER for place in places if (place / MARKER).exists()]


def _name(pid: int) -> str:
    try:
        return f"{pid} " + Path(f"/proc/{pid}/stat").read_text()[:80]
    except OSError:
        return str(pid)
