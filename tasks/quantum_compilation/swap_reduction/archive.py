"""The 24 circuits of the suite: packed from their public files, read from the archive."""

from __future__ import annotations

import hashlib
import io
import json
import struct
import tarfile
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from tasks.quantum_compilation.circuit import Circuit
from tasks.quantum_compilation.qasm import parse_qasm

DATA = Path(__file__).with_name("data")
ARCHIVE = "circuits.tar.gz"
_LICENCE = "LICENSE.ibm_qx_mapping.txt"
_MAX_MEMBER_BYTES = 4 * 2**20


def manifest() -> list[dict[str, Any]]:
    """Name, file, address, sha256 and counts of each circuit."""
    content = json.loads((DATA / "circuits_manifest.json").read_bytes())
    circuits: list[dict[str, Any]] = content["circuits"]
    return circuits


def pack(parts: Sequence[Path], target: Path) -> None:
    """Make the archive of the downloaded files (in the manifest's order) and their licence.

    The same files give the same bytes as in the mirror. Raises ``ValueError`` for files with
    another content than the manifest says.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        _add(tar, f"circuits/{_LICENCE}", (DATA / _LICENCE).read_bytes())
        for entry, part in zip(manifest(), parts, strict=True):
            _add(tar, entry["file"], _checked(entry, part.read_bytes()))
    target.write_bytes(_gzip(buffer.getvalue()))


def _gzip(content: bytes) -> bytes:
    """Level 9, without time and name; written out, since Python versions set other header bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL)
    body = packer.compress(content) + packer.flush()
    head = bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3])
    return head + body + struct.pack("<II", zlib.crc32(content), len(content))


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))


def _checked(entry: dict[str, Any], content: bytes) -> bytes:
    if hashlib.sha256(content).hexdigest() != entry["sha256"]:
        raise ValueError(f"{entry['file']} has another content than the manifest says")
    return content


@lru_cache(maxsize=2)
def read_circuits(archive: Path) -> dict[str, Circuit]:
    """The circuits in an archive by name, each compared with the manifest's sha256.

    Raises ``ValueError`` when one is missing or different.
    """
    return {name: parse_qasm(text) for name, text in read_texts(archive).items()}


def read_texts(archive: Path) -> dict[str, str]:
    """The OpenQASM texts in an archive by the circuits' names; raises ``ValueError``."""
    wanted = {entry["file"]: entry for entry in manifest()}
    found = {}
    with tarfile.open(archive, "r:gz") as tar:
        for member in tar:
            entry = wanted.get(member.name)
            if entry is None or not member.isreg() or member.size > _MAX_MEMBER_BYTES:
                continue
            file = tar.extractfile(member)
            assert file is not None
            found[entry["circuit"]] = _checked(entry, file.read()).decode("utf-8")
    missing = {entry["circuit"] for entry in wanted.values()} - found.keys()
    if missing:
        raise ValueError(f"{archive.name} lacks {', '.join(sorted(missing))}")
    return found
