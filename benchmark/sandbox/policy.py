"""What a candidate may see of this machine: system, interpreter and libraries, read-only.

Everything else (home, repository, data, this distribution's own packages) does not exist inside.
"""

from __future__ import annotations

import os
import site
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

DISTRIBUTION = "evoduet"
OWN_PACKAGES = ("benchmark", "tasks", "oracle_docs", "method", "analysis", "results")

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
        "/etc/localtime", "/etc/fonts")  # fmt: skip
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                     "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
                     "BLIS_NUM_THREADS")  # fmt: skip
# Which BLAS kernel a machine must use is a property of the machine, set by its administrator.
_MACHINE_VARIABLES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")

INSIDE = Path(__file__).parent / "inside"
"""The two modules that run inside the sandbox."""


@dataclass(frozen=True)
class Visible:
    """Host paths shown read-only at the same place; ``masked`` are hidden again inside them."""

    paths: tuple[Path, ...]
    symlinks: tuple[tuple[Path, str], ...]
    masked: tuple[Path, ...]
    site_dirs: tuple[Path, ...]
    interpreter: Path

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
    site_dirs = [Path(entry) for entry in _site_dirs() if Path(entry).is_dir()]
    masked = _own_files(site_dirs)
    checkout = Path(__file__).resolve().parents[2]
    if checkout not in site_dirs and any(checkout.is_relative_to(path) for path in paths):
        masked.append(checkout)  # a clone below /usr or the interpreter's prefix
    for entry in site_dirs:
        shown = any(entry.resolve().is_relative_to(path) for path in paths)
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


def environment(
    threads: int, scratch: str, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The whole environment of a candidate: nothing of the parent's but machine settings."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": scratch,
        "TMPDIR": scratch,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join(str(path) for path in visible().site_dirs),
        **dict.fromkeys(_THREAD_VARIABLES, str(threads)),
        **{name: os.environ[name] for name in _MACHINE_VARIABLES if name in os.environ},
        **(extra or {}),
    }
