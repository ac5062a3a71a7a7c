"""Archives that are the same bytes everywhere, and their safe unpacking.

An archive is a tar file in the old, plain format (ustar): regular files alone, sorted by name, no
times, no owners; compressed with gzip or Zstandard, by the name of the file. The first member is
``manifest.json``, which names every other one with its size and sha256.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from benchmark.provenance import sha256_file

MANIFEST = "manifest.json"
MAX_UNPACKED_BYTES = 4 * 2**30
MAX_MANIFEST_BYTES = 64 * 2**20
MAX_GROWTH = 400
"""An archive may unpack to so many times its size (and 64 MiB more)."""

_SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*){0,3}")
_LONGEST_NAME = 100
_CHUNK = 1 << 20
_LEVEL = {".gz": 6, ".zst": 10}


class ArchiveProblem(ValueError):
    """The file is no archive of ours, or not an honest one; the message names it."""


def suffix_of(path: Path) -> str:
    """``.gz`` or ``.zst``. Raises :class:`ArchiveProblem` for another name."""
    for suffix in _LEVEL:
        if path.name.endswith(f".tar{suffix}"):
            return suffix
    raise ArchiveProblem(f"{path}: name it FILE.tar.zst or FILE.tar.gz")


# --- writing -------------------------------------------------------------------------------------


def write_archive(out: Path, members: Mapping[str, bytes | Path], about: Mapping[str, Any]) -> str:
    """Write an archive whole or not at all; returns its sha256.

    ``members`` are contents or files by name; ``about`` joins the manifest. Raises ``OSError`` and
    :class:`ArchiveProblem`.
    """
    sizes = {name: _measured(member) for name, member in sorted(members.items())}
    for name in sizes:
        _check_name(name, out)
    manifest = {**about, "members": sizes}
    content = (json.dumps(manifest, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()
    suffix = suffix_of(out)
    partial = out.with_name(f".{out.name}.partial")
    try:
        with (
            partial.open("wb") as raw,
            _compressing(raw, suffix, out) as stream,
            tarfile.open(fileobj=stream, mode="w|", format=tarfile.USTAR_FORMAT) as tar,
        ):
            tar.addfile(_header(MANIFEST, len(content)), io.BytesIO(content))
            for name, told in sizes.items():
                with _opened(members[name]) as source:
                    tar.addfile(_header(name, told["size"]), source)
        digest = sha256_file(partial)
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
    return digest


def _measured(member: bytes | Path) -> dict[str, Any]:
    if isinstance(member, bytes):
        return {"size": len(member), "sha256": hashlib.sha256(member).hexdigest()}
    return {"size": member.stat().st_size, "sha256": sha256_file(member)}


def _opened(member: bytes | Path) -> IO[bytes]:
    return io.BytesIO(member) if isinstance(member, bytes) else member.open("rb")


def _header(name: str, size: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size, header.mode = size, 0o644
    return header


@contextmanager
def _compressing(raw: IO[bytes], suffix: str, out: Path) -> Iterator[IO[bytes]]:
    if suffix == ".gz":
        with gzip.GzipFile("", "wb", _LEVEL[suffix], raw, mtime=0) as stream:
            yield cast(IO[bytes], stream)
        return
    compressor = _zstandard(out).ZstdCompressor(level=_LEVEL[suffix], threads=0)
    with compressor.stream_writer(raw, closefd=False) as stream:
        yield stream


def _zstandard(path: Path) -> Any:
    try:
        import zstandard
    except ImportError:
        raise ArchiveProblem(
            f"{path}: .tar.zst needs the library zstandard (pip install zstandard); or use .tar.gz"
        ) from None
    return zstandard


# --- reading -------------------------------------------------------------------------------------


def unpack(path: Path, folder: Path) -> dict[str, Any]:
    """Unpack an archive into an empty folder and return its manifest.

    Every member must be a regular file with a plain relative name that the manifest declares, with
    the size and sha256 that it declares; nothing else may be in the archive, and nothing of the
    manifest may be missing. Raises :class:`ArchiveProblem` or ``OSError``.
    """
    most = min(MAX_UNPACKED_BYTES, MAX_GROWTH * path.stat().st_size + (64 << 20))
    try:
        with ExitStack() as stack:
            raw = stack.enter_context(path.open("rb"))
            stream = _Bounded(_decompressing(raw, path, stack), most, path)
            return _unpack(stream, folder, path)
    except (EOFError, gzip.BadGzipFile) as error:
        raise ArchiveProblem(f"{path}: no readable archive ({error})") from None
    except Exception as error:
        if type(error).__module__.partition(".")[0] in ("zlib", "zstandard"):
            raise ArchiveProblem(f"{path}: damaged ({error})") from None
        raise


def _unpack(stream: _Bounded, folder: Path, path: Path) -> dict[str, Any]:
    name, size = _next_member(stream, path) or ("", 0)
    if name != MANIFEST or size > MAX_MANIFEST_BYTES:
        raise ArchiveProblem(f"{path}: does not begin with a {MANIFEST}; not made by evoduet")
    manifest = _manifest(b"".join(stream.parts(size)), path)
    stream.skip_padding(size)
    left: dict[str, dict[str, Any]] = dict(manifest["members"])
    while (found := _next_member(stream, path)) is not None:
        name, size = found
        told = left.pop(name, None)
        if told is None:
            raise ArchiveProblem(f"{path}: {name} is not in the manifest, or is there twice")
        if size != told["size"]:
            raise ArchiveProblem(f"{path}: {name} has another size than the manifest says")
        if _copied(stream.parts(size), folder / name) != told["sha256"]:
            raise ArchiveProblem(f"{path}: {name} is not what the manifest says (sha256)")
        stream.skip_padding(size)
    if left:
        raise ArchiveProblem(f"{path}: lacks {min(left)}, which the manifest names")
    return manifest


def _next_member(stream: _Bounded, path: Path) -> tuple[str, int] | None:
    """Name and size of the next member, ``None`` at the end. Knows regular files and no other."""
    block = stream.exactly(tarfile.BLOCKSIZE)
    if not any(block):
        return None
    try:
        header = tarfile.TarInfo.frombuf(block, "ascii", "strict")
    except (tarfile.TarError, UnicodeDecodeError) as error:
        raise ArchiveProblem(f"{path}: damaged, or no tar file ({error})") from None
    if header.type != tarfile.REGTYPE or header.size < 0:
        raise ArchiveProblem(f"{path}: {header.name!r} is no plain file; not unpacked")
    _check_name(header.name, path)
    return header.name, header.size


def _manifest(content: bytes, path: Path) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads(content)
        members = manifest["members"]
        for name, told in members.items():
            _check_name(name, path)
            if type(told["size"]) is not int or not isinstance(told["sha256"], str):
                raise TypeError(name)
            if any(parent.as_posix() in members for parent in PurePosixPath(name).parents):
                raise TypeError(name)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, ArchiveProblem):
            raise
        raise ArchiveProblem(f"{path}: its {MANIFEST} is not one of ours ({error})") from None
    return manifest


def _check_name(name: str, path: Path) -> None:
    if not _SAFE.fullmatch(name) or len(name) > _LONGEST_NAME:
        raise ArchiveProblem(f"{path}: unsafe member name {name!r}; not unpacked")


def _copied(parts: Iterator[bytes], target: Path) -> str:
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with target.open("xb") as file:
        for part in parts:
            digest.update(part)
            file.write(part)
    return digest.hexdigest()


def _decompressing(raw: IO[bytes], path: Path, stack: ExitStack) -> IO[bytes]:
    if suffix_of(path) == ".gz":
        return cast(IO[bytes], stack.enter_context(gzip.GzipFile(fileobj=raw)))
    # The window bounds the memory that a hostile frame can ask for.
    decompressor = _zstandard(path).ZstdDecompressor(max_window_size=1 << 27)
    return cast(IO[bytes], stack.enter_context(decompressor.stream_reader(raw, closefd=False)))


class _Bounded:
    """A stream that gives no more than so many bytes in all."""

    def __init__(self, stream: IO[bytes], most: int, path: Path) -> None:
        self._stream, self._left, self._path = stream, most, path

    def exactly(self, size: int) -> bytes:
        """``size`` bytes. Raises :class:`ArchiveProblem` when there are fewer."""
        return b"".join(self.parts(size))

    def parts(self, size: int) -> Iterator[bytes]:
        """``size`` bytes, a piece at a time."""
        if size > self._left:
            raise ArchiveProblem(f"{self._path}: unpacks to too many bytes; not unpacked further")
        self._left -= size
        while size:
            part = self._stream.read(min(size, _CHUNK))
            if not part:
                raise ArchiveProblem(f"{self._path}: ends too early; copy it again")
            size -= len(part)
            yield part

    def skip_padding(self, size: int) -> None:
        """To the next block, after a member of ``size`` bytes."""
        self.exactly(-size % tarfile.BLOCKSIZE)
