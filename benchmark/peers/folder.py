"""The folder from which another system optimises a task unchanged."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmark.peers import harbor, openevolve, shinka, simpletes, skydiscover
from benchmark.peers.readme import readme
from benchmark.peers.system import System
from benchmark.task import Task

SYSTEMS: Mapping[str, System] = {
    module.SYSTEM.name: module.SYSTEM
    for module in (openevolve, skydiscover, simpletes, shinka, harbor)
}


def contents(task: Task, system: System) -> dict[str, bytes]:
    """All files of the folder by name; the initial program and the instruction unchanged.

    A system may have a README and an instruction of its own.
    """
    texts = {"README.md": readme(task, system), **system.files(task)}
    return {
        system.initial_name(task): task.initial_program.read_bytes(),
        "instruction.md": (task.folder / "instructions.md").read_bytes(),
        **{name: text.encode() for name, text in texts.items()},
    }


def write(files: Mapping[str, bytes], out: Path) -> None:
    """Write a folder that is new or empty, whole or not at all.

    Raises ``FileExistsError`` when something is there already, ``OSError`` when it cannot be
    written; both name ``out``.
    """
    out = out.absolute()
    if out.is_dir():
        if any(out.iterdir()):
            raise FileExistsError(
                errno.EEXIST, "is not empty; name a folder that is new or empty", str(out)
            )
    elif out.exists() or out.is_symlink():
        raise FileExistsError(errno.EEXIST, "is not a folder; name a new one", str(out))
    try:
        if out.is_dir():  # filled in place: somebody's shell may stand in it
            _fill(files, out)
        else:
            _make(files, out)
    except OSError as error:
        reason = f"not written ({error.strerror}); choose another place"
        raise OSError(error.errno, reason, str(out)) from None


def _make(files: Mapping[str, bytes], out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{out.name}.partial-", dir=out.parent))
    try:
        _fill(files, partial)
        partial.chmod(0o777 & ~_umask())  # mkdtemp's own are for the owner alone
        partial.rename(out)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _fill(files: Mapping[str, bytes], folder: Path) -> None:
    try:
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            if path.suffix == ".sh":
                path.chmod(path.stat().st_mode | 0o111)
    except BaseException:
        for name in files:
            (folder / name).unlink(missing_ok=True)
            _remove_empty((folder / name).parent, folder)
        raise


def _remove_empty(place: Path, folder: Path) -> None:
    """Remove what is empty of the folders from ``place`` up to, but without, ``folder``."""
    while place != folder and place.is_dir() and not any(place.iterdir()):
        place.rmdir()
        place = place.parent


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
