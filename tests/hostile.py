"""Running a hostile program and looking for what it may have left behind."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmark import Evaluation, evaluate
from benchmark.harness import Harness
from benchmark.sandbox.inside import tree

HERE = Path(__file__).parent / "attacks"
TASK = str(HERE / "task")
PROGRAMS = HERE / "programs"
HONEST = 1.0
MARKER = "evoduet-attack-marker"
TOKEN = "TOKEN-" + "OF-THE-ATTACK-TEST"
"""What secrets hold that hostile programs look for."""

SET_SUBREAPER = 36
PLACES = ("/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/etc", "/root", "/home", "/usr/local",
          "/work")  # fmt: skip


@dataclass(frozen=True)
class Expected:
    """Allowed verdicts, a part of the reason, and the wall time that the program is given."""

    statuses: str
    reason: str = ""
    wall_s: float = 10.0


EXPECTED = {
    # What comes out is checked where the candidate cannot reach.
    "nan": Expected("invalid", "outside"),
    "infinity": Expected("invalid", "outside"),
    "negative": Expected("invalid", "outside"),
    "huge_numbers": Expected("invalid", "int of 10000001 bits"),
    "object_array": Expected("invalid", "array of dtype object"),
    "lying_subclasses": Expected("valid"),
    "rebinding": Expected("invalid crashed"),
    "walking_frames": Expected("valid invalid"),
    "nested_return": Expected("invalid", "nested more than"),
    "endless_answer": Expected("invalid", "more than"),
    # The result channel carries the candidate's own answer, whoever writes it.
    "forged_frame": Expected("invalid", "outside"),
    "forged_verdict": Expected("invalid", "something else than its answer"),
    "forged_failure": Expected("invalid"),
    "garbage_frames": Expected("invalid"),
    "oversize_frame": Expected("invalid"),
    "partial_frame": Expected("timeout", wall_s=1.0),
    "closed_descriptors": Expected("timeout", wall_s=1.0),
    "forged_files": Expected("valid"),
    "exit_before_returning": Expected("crashed", "exited with status 0 before"),
    "system_exit": Expected("crashed", "exited before returning"),
    "late_thread": Expected("valid"),
    # Processes.
    "fork_storm": Expected("crashed", "more than 16 processes"),
    "thread_storm": Expected("crashed out_of_memory"),
    "daemon_children": Expected("valid"),
    "ignored_signals": Expected("timeout", wall_s=1.0),
    "killing_parents": Expected("valid crashed timeout", wall_s=1.0),  # it may stop itself
    "meddling": Expected("valid crashed"),
    "stack_overflow": Expected("crashed", "SIGSEGV"),
    # Floods.
    "memory_flood": Expected("out_of_memory"),
    "memory_flood_shared_out": Expected("out_of_memory", "more than 512 MB"),
    "disk_flood": Expected("crashed"),
    "disk_flood_deleted": Expected("crashed"),
    "file_flood": Expected("crashed timeout", wall_s=3.0),
    "sparse_file": Expected("crashed", "File too large"),
    "output_flood": Expected("crashed", "printed more than"),
    # Looking and reaching out.
    "reading_environment": Expected("valid"),
    "reading_proc": Expected("valid"),
    "reading_repository": Expected("valid"),
    "importing_the_harness": Expected("valid"),
    "writing_outside": Expected("valid crashed"),
    "symlinks": Expected("valid crashed"),
}

NOT_PROMISED_BARE = {
    # Without namespaces and without Landlock a program is the user: what he can read and write, it
    # can. The verdict is still the harness's own, and no process outlives it.
    "reading_environment",
    "reading_proc",
    "reading_repository",
    "importing_the_harness",
    "writing_outside",
    "forged_files",
}
SEPARATE = {"network", "local_socket", "killing_everything"}
"""Programs that need something from their test."""


def attack(
    name: str, folder: Path, harness: Harness, wall_s: float = 10.0, **constants: object
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
    return [place / MARKER for place in places if os.path.lexists(place / MARKER)]


def _name(pid: int) -> str:
    try:
        return f"{pid} " + Path(f"/proc/{pid}/stat").read_text()[:80]
    except OSError:
        return str(pid)
