"""The Rust toolchain of this machine."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmark.evaluator import Unavailable
from benchmark.sandbox import policy

_PATIENCE_S = 60.0
_USUAL_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
_REMEDY = "install Rust with rustup (https://rustup.rs), or apt-get install rustc-web cargo-web"


@dataclass(frozen=True)
class Toolchain:
    """The real programs, not the shims of rustup, and the folders they need to be seen.

    ``version`` tells everything about the compiler that may change what it makes.
    """

    cargo: Path
    rustc: Path
    visible: tuple[Path, ...]
    version: str

    @property
    def search_path(self) -> str:
        """``PATH`` inside the sandbox: the toolchain, then the system with its linker."""
        return ":".join([str(self.cargo.parent), *_USUAL_PATH])


@cache
def toolchain() -> Toolchain:
    """The toolchain in use here. Raises :class:`Unavailable` with what to install."""
    shims = {name: _find(name) for name in ("rustc", "cargo")}
    sysroot = Path(_answer([shims["rustc"], "--print", "sysroot"]).strip()).resolve()
    rustc, cargo = (_real(shims[name], sysroot) for name in ("rustc", "cargo"))
    if shutil.which("cc", path=":".join(_USUAL_PATH)) is None:
        raise Unavailable("rustc needs the linker cc: apt-get install gcc")
    version = _answer([rustc, "-vV"]) + _answer([cargo, "-V"])
    return Toolchain(cargo, rustc, _to_show(sysroot, rustc.parent, cargo.parent), version)


def _find(name: str) -> Path:
    """A program on the ``PATH``, or where rustup puts it."""
    found = shutil.which(name) or shutil.which(name, path=str(Path.home() / ".cargo" / "bin"))
    if found is None:
        raise Unavailable(f"rustc/cargo not found ({name} is not on the PATH): {_REMEDY}")
    return Path(found)


def _real(shim: Path, sysroot: Path) -> Path:
    inside = sysroot / "bin" / shim.name
    return inside if inside.is_file() else shim.resolve()


def _answer(command: list[Path | str]) -> str:
    try:
        done = subprocess.run(
            [str(word) for word in command],
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            cwd="/",  # a rust-toolchain.toml of the working directory must not matter
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"rustc/cargo not found ({command[0]}: {error}): {_REMEDY}") from None
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        raise Unavailable(f"rustc/cargo not found ({command[0]}: {said}): {_REMEDY}")
    return done.stdout


def _to_show(*folders: Path) -> tuple[Path, ...]:
    """The folders that a sandbox does not show anyway, none inside another."""
    shown = policy.visible().paths
    extra = [f for f in dict.fromkeys(folders) if not any(f.is_relative_to(p) for p in shown)]
    return tuple(f for f in extra if not any(f != g and f.is_relative_to(g) for g in extra))
