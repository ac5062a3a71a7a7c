"""What a candidate may see of this machine: system, interpreter and libraries, read-only.

Everything else (home, repository, data, this distribution's own packages) does not exist inside.
"""

from __future__ import annotations

import fcntl
import os
import site
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

DISTRIBUTION = "evoduet"
INSIDE_ID = 1000
"""The user and group that a candidate believes to be, where it has its own numbers."""
OWN_PACKAGES = ("benchmark", "tasks", "oracle_docs", "method", "analysis", "results")

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
        "/etc/localtime", "/etc/fonts")  # fmt: skip
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                     "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
                     "BLIS_NUM_THREADS")  # fmt: skip
_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl",
            "/etc/ca-certificates", "/etc/pki")  # fmt: skip
# Which BLAS kernel a machine must use is a property of the machine, set by its administrator.
_MACHINE_VARIABLES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")

INSIDE = Path(__file__).resolve().parent / "inside"
"""The modules that run inside the sandbox."""

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
PROC = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/uptime",
        "/proc/version", "/proc/filesystems")  # fmt: skip
"""What a candidate may read of ``/proc`` where it has none of its own."""


@dataclass(frozen=True)
class Visible:
    """Host paths shown read-only at the same place; ``masked`` are hidden again inside them.

    No path here leads through a symbolic link, so that what is masked is masked by any name.
    """

    paths: tuple[Path, ...]
    symlinks: tuple[tuple[Path, str], ...]
    masked: tuple[Path, ...]
    site_dirs: tuple[Path, ...]
    interpreter: Path

    def samples(self) -> list[Path]:
        """Paths whose permissions tell whether another user can read all that is shown."""
        inside = [child for path in self.site_dirs for child in path.iterdir()]
        return [*self.paths, *self.site_dirs, *inside, self.interpreter, INSIDE, *INSIDE.iterdir()]

    @property
    def hidden_imports(self) -> tuple[str, ...]:
        """Import names of this distribution's packages inside the visible site-packages."""
        return tuple(path.name for path in self.masked if path.name in OWN_PACKAGES)


@cache
def visible() -> Visible:
    """The policy for this interpreter and its environment."""
    paths, symlinks = _system()
    prefix = Path(sys.base_prefix).resolve()
    if not any(prefix.is_relative_to(path) for path in paths):
        paths.append(prefix)
    resolved = dict.fromkeys(Path(entry).resolve() for entry in _site_dirs())
    site_dirs = [path for path in resolved if path.is_dir()]
    masked = _own_files(site_dirs)
    checkout = Path(__file__).resolve().parents[2]
    if checkout not in site_dirs and any(checkout.is_relative_to(path) for path in paths):
        masked.append(checkout)  # a clone below /usr or the interpreter's prefix
    for entry in site_dirs:
        shown = any(entry.is_relative_to(path) for path in paths)
        if not shown or any(entry.is_relative_to(path) for path in masked):
            paths.append(entry)
    paths.extend(Path(entry) for entry in _ETC if Path(entry).exists())
    interpreter = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    return Visible(
        paths=tuple(paths),
        symlinks=tuple(symlinks),
        masked=tuple(masked),
        site_dirs=tuple(site_dirs),
        interpreter=interpreter,
    )


def _system() -> tuple[list[Path], list[tuple[Path, str]]]:
    paths, symlinks = [], []
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            symlinks.append((path, str(path.readlink())))
        elif path.is_dir():
            paths.append(path)
    return paths, symlinks


def _site_dirs() -> list[str]:
    """The site-packages on ``sys.path``, not the folders that ``.pth`` files or the user added."""
    known = {*site.getsitepackages(), site.getusersitepackages()}
    return [entry for entry in dict.fromkeys(sys.path) if entry in known or _is_site(entry)]


def _is_site(entry: str) -> bool:
    return Path(entry).name in ("site-packages", "dist-packages")


def _own_files(site_dirs: list[Path]) -> list[Path]:
    """Top-level entries that this distribution installed into the visible site-packages."""
    found: set[Path] = set()
    for site_dir in site_dirs:
        found.update(site_dir / name for name in OWN_PACKAGES if (site_dir / name).exists())
        for distribution in metadata.distributions(name=DISTRIBUTION, path=[str(site_dir)]):
            for file in distribution.files or ():
                top = site_dir / file.parts[0]
                if file.parts[0] not in ("..", "__pycache__") and top.exists():
                    found.add(top)
    return sorted(found)


def readable_by_all(path: Path) -> bool:
    """True when any user may read this file, or list this folder, once it is before him."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    needed = 0o005 if stat.S_ISDIR(mode) or mode & 0o100 else 0o004
    return mode & needed == needed


def reachable_by_all(path: Path) -> bool:
    """True when any user may go to this place from the root folder."""
    return all(parent.stat().st_mode & 0o001 for parent in path.resolve().parents)


@cache
def all_readable() -> bool:
    """True when any user may read all that is shown, once it is before him."""
    return all(readable_by_all(path) for path in visible().samples())


@cache
def all_reachable() -> bool:
    """True when any user may also go to all that is shown."""
    return all(reachable_by_all(path) for path in visible().samples())


def network_files() -> list[Path]:
    """What name resolution and certificates need, where a candidate may use the network."""
    return [Path(name) for name in _NETWORK if Path(name).exists()]


def memory_file(content: bytes, *, sealed: bool = False) -> int:
    """A descriptor of a file without a name that holds ``content``; ``sealed``: for ever.

    The descriptor of a named file would let a candidate open that file again, for writing, through
    ``/proc/self/fd``.
    """
    fd = os.memfd_create("sandbox", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(fd, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(fd, 0, os.SEEK_SET)
    if sealed:
        seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


def environment(threads: int, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a candidate: nothing of the parent's but machine settings.

    Backends add ``HOME`` and ``TMPDIR``, the private folder.
    """
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(str(path) for path in visible().site_dirs),
        **dict.fromkeys(_THREAD_VARIABLES, str(threads)),
        **{name: os.environ[name] for name in _MACHINE_VARIABLES if name in os.environ},
        **(extra or {}),
    }
