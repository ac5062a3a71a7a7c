"""Built routers in the user's cache folder: whole, checked when used, the oldest forgotten."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from benchmark.evaluator import Unavailable

MAX_BUILDS = 400
"""About half a megabyte each."""

_PROGRAM, _DIGEST = "router", "sha256"


@dataclass(frozen=True)
class BuildCache:
    """A folder with one folder for each build: the program and the sha256 of its bytes."""

    folder: Path

    @classmethod
    def of_user(cls) -> BuildCache:
        """The cache of whoever runs this."""
        return cls(platformdirs.user_cache_path("evoduet") / "routers")

    def find(self, key: str) -> Path | None:
        """The program built for ``key``, unless it is missing or damaged."""
        program = self.folder / key / _PROGRAM
        try:
            digest = (self.folder / key / _DIGEST).read_text(encoding="ascii").strip()
            if hashlib.sha256(program.read_bytes()).hexdigest() != digest:
                return None
        except (OSError, UnicodeDecodeError):
            return None
        try:
            os.utime(program.parent)
        except OSError:  # somebody else's cache, which we may read
            pass
        return program

    def keep(self, key: str, content: bytes) -> Path:
        """Store a program. Raises :class:`Unavailable` when the cache cannot be written."""
        new = self.folder / f".{key}.{secrets.token_hex(8)}"
        try:
            try:
                new.mkdir(parents=True)
                (new / _PROGRAM).write_bytes(content)
                (new / _PROGRAM).chmod(0o755)
                (new / _DIGEST).write_text(hashlib.sha256(content).hexdigest(), encoding="ascii")
                self._install(new, key)
            finally:
                shutil.rmtree(new, ignore_errors=True)
            self._forget_oldest()
        except OSError as error:
            raise Unavailable(
                f"{self.folder}: {error.strerror}; set XDG_CACHE_HOME to a folder that can be "
                "written"
            ) from None
        return self.folder / key / _PROGRAM

    def _install(self, new: Path, key: str) -> None:
        place = self.folder / key
        try:
            new.rename(place)
        except OSError:
            if self.find(key) is None:  # a damaged build; otherwise another process was faster
                shutil.rmtree(place)
                new.rename(place)

    def _forget_oldest(self) -> None:
        builds = [entry for entry in os.scandir(self.folder) if not entry.name.startswith(".")]
        if len(builds) <= MAX_BUILDS:
            return
        ages = []
        for build in builds:
            try:
                ages.append((build.stat().st_mtime_ns, build.path))
            except FileNotFoundError:  # another process forgot it first
                continue
        for _, path in sorted(ages)[: len(ages) - MAX_BUILDS]:
            shutil.rmtree(path, ignore_errors=True)
