"""The ways in which a declared data file can be made on this machine, the best one first."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Iterator
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
    file: DataFile, mirror_url: str, downloads: Path, progress: Progress | None
) -> Iterator[Way]:
    """A mirror on the network (``""``: none), the rebuild from shipped data, the public source."""
    if mirror_url and file.mirror is not None:
        url, sha256 = f"{mirror_url}/{file.mirror.path}", file.mirror.sha256
        yield "the mirror", lambda target: _copy(url, sha256, downloads, progress, target)
    yield from rebuilding(file)
    source = file.source
    if source is not None:
        yield "its public source", lambda target: _make(source, downloads, progress, target)


def rebuilding(file: DataFile) -> Iterator[Way]:
    """The way that needs no network, where the file has one."""
    rebuild = file.rebuild
    if rebuild is not None:
        yield "rebuilding it", lambda target: _convert(rebuild, target)


def _copy(url: str, sha256: str, downloads: Path, progress: Progress | None, target: Path) -> None:
    _downloaded(url, downloads, sha256, progress).replace(target)


def _make(source: Source, downloads: Path, progress: Progress | None, target: Path) -> None:
    parts = [_downloaded(part.url, downloads, part.sha256, progress) for part in source.downloads]
    if source.converter is None:
        parts[0].replace(target)
        return
    _convert(source.converter, parts, target)
    for part in parts:
        part.unlink()


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
