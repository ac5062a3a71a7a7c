"""The ways in which a declared data file can be made on this machine, the best one first."""

from __future__ import annotations

import hashlib
import importlib
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmark.download import Progress, download
from benchmark.evaluator import Unavailable
from benchmark.task import DataFile, Source

Way = tuple[str, Callable[[Path], None]]
"""A few words that name it, and a function that writes the file to a path.

The function raises :class:`ConversionError`, :class:`~benchmark.download.DownloadError` or
``OSError``.
"""


class ConversionError(Exception):
    """A converter could not make the file, or made another one than expected."""


def ways(
    file: DataFile, mirror: str | Path | None, downloads: Path, progress: Progress | None
) -> Iterator[Way]:
    """The mirror (address or folder), the rebuild from shipped data, the public source."""
    place = file.mirror
    if place is not None and isinstance(mirror, Path):
        original = mirror / place.path
        yield "the mirror", lambda target: _copy(original, target)
    elif place is not None and mirror is not None:
        # Where a check decides, a mirror may hold other bytes: the cache of another machine does.
        sha256 = place.sha256 if file.check is None else None
        url = f"{mirror}/{place.path}"
        yield "the mirror", lambda target: _fetch(url, sha256, downloads, progress, target)
    yield from rebuilding(file)
    source = file.source
    if source is not None:
        yield "its public source", lambda target: _make(source, downloads, progress, target)


def rebuilding(file: DataFile) -> Iterator[Way]:
    """The way that needs no network, where the file has one."""
    rebuild = file.rebuild
    if rebuild is not None:
        yield "rebuilding it", lambda target: _convert(rebuild, target)


def _copy(original: Path, target: Path) -> None:
    shutil.copyfile(original, target)


def _fetch(
    url: str, sha256: str | None, downloads: Path, progress: Progress | None, target: Path
) -> None:
    _downloaded(url, downloads, sha256, progress).replace(target)


def _make(source: Source, downloads: Path, progress: Progress | None, target: Path) -> None:
    parts = [_downloaded(part.url, downloads, part.sha256, progress) for part in source.downloads]
    if source.converter is None:
        parts[0].replace(target)
        return
    try:
        _convert(source.converter, parts, target)
    except ConversionError:  # what was refused must not be there at the next attempt
        _discard(p for p, part in zip(parts, source.downloads, strict=True) if not part.sha256)
        raise
    _discard(parts)


def _discard(files: Iterable[Path]) -> None:
    for file in files:
        file.unlink()


def _downloaded(url: str, folder: Path, sha256: str | None, progress: Progress | None) -> Path:
    """Download into ``folder`` under a name that belongs to the address alone."""
    name = f"{hashlib.sha256(url.encode()).hexdigest()[:12]}-{url.rpartition('/')[2][:80]}"
    folder.mkdir(parents=True, exist_ok=True)
    download(url, folder / name, sha256, progress)
    return folder / name


def _convert(function: str, *arguments: Any) -> None:
    """Call ``"package.module:function"``; whatever it trips over is a :class:`ConversionError`."""
    module, _, name = function.partition(":")
    try:
        getattr(importlib.import_module(module), name)(*arguments)
    except OSError:
        raise
    except Unavailable as missing:
        raise ConversionError(str(missing)) from None
    except Exception as error:
        raise ConversionError(f"{function}: {type(error).__name__}: {error}") from error
