"""Artifacts: what a candidate produced, as plain data, and the files they are stored in.

An artifact's data is a JSON value whose leaves may also be numpy arrays of booleans, integers or
floats: the plain construction (a list of heights, a matrix, a set of integers), or a dictionary
``{"construction": ..., "claim": ..., "n_points": ...}`` where the rules of a task need more.

Files are strict JSON (``.json``) or ``.npz`` without pickles. Reading also understands the tagged
JSON in which public releases store constructions: ``{"__simpletes_type__": "ndarray", "dtype",
"shape", "data"}`` and ``{"__simpletes_type__": "tuple", "items"}`` (or ``__simpleevolve_type__``).
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Plain: TypeAlias = (
    "bool | int | float | str | list[Plain] | dict[str, Plain] | np.ndarray[Any, Any] | None"
)

MAX_ARTIFACT_BYTES = 256 * 2**20
"""Largest artifact file, and largest array inside one, that is read."""

_TYPE_TAGS = ("__simpletes_type__", "__simpleevolve_type__")
_FIELDS = frozenset({"construction", "claim", "n_points"})


class ArtifactError(ValueError):
    """The file is no artifact; the message names it and says why."""


@dataclass(frozen=True)
class Artifact:
    """Plain data that a candidate produced, and facts that the harness measured about it.

    ``facts`` (status, CPU time or memory of each case) come from the parent process alone: a
    candidate cannot write them, and they are no part of the digest.
    """

    data: Plain
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def construction(self) -> Plain:
        """The construction, whether the data is bare or carries a claim beside it."""
        return self.data["construction"] if _has_fields(self.data) else self.data  # type: ignore[call-overload,index]

    def get(self, name: str) -> Plain:
        """``claim`` or ``n_points`` where the artifact carries it, else ``None``."""
        return self.data.get(name) if _has_fields(self.data) else None  # type: ignore[union-attr]

    def digest(self) -> str:
        """Sha256 of the data, independent of the file it was read from: equal numbers, equal hash,
        whether they stand in lists or arrays."""
        digest = hashlib.sha256()
        _feed(digest, self.data)
        return digest.hexdigest()


def _feed(digest: hashlib._Hash, data: Plain) -> None:
    numbers = _as_floats(data) if isinstance(data, list | np.ndarray) else None
    if numbers is not None:
        digest.update(f"array{numbers.shape}".encode())
        digest.update(np.ascontiguousarray(numbers).data)
    elif isinstance(data, list | np.ndarray):
        digest.update(f"list({len(data)})".encode())
        for item in data:
            _feed(digest, item.item() if isinstance(item, np.generic) else item)
    elif isinstance(data, dict):
        digest.update(f"dict({len(data)})".encode())
        for key in sorted(data):
            digest.update(json.dumps(key).encode())
            _feed(digest, data[key])
    else:
        digest.update(json.dumps(to_json(data)).encode())


def _as_floats(data: list[Plain] | np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """A rectangle of numbers as doubles, if they hold them exactly."""
    try:
        array = np.asarray(data)
    except (ValueError, OverflowError):
        return None
    if array.ndim == 0 or array.size == 0 or array.dtype.kind not in "iuf":
        return None
    if array.dtype.kind in "iu" and max(int(array.max()), -int(array.min())) > 2**53:
        return None
    if isinstance(data, list) and _holds_booleans(data):
        return None
    return array.astype("<f8", copy=False)


def _holds_booleans(data: list[Any]) -> bool:
    if data and isinstance(data[0], list):
        return any(_holds_booleans(item) for item in data if isinstance(item, list))
    return bool in set(map(type, data))


def _has_fields(data: Plain) -> bool:
    return isinstance(data, dict) and "construction" in data and data.keys() <= _FIELDS


def to_json(data: Plain) -> Any:
    """Plain data as JSON values: arrays become nested lists, non-finite floats their names."""
    if isinstance(data, np.ndarray):
        return to_json(data.tolist())
    if isinstance(data, float) and not math.isfinite(data):
        return "NaN" if math.isnan(data) else ("Infinity" if data > 0 else "-Infinity")
    if isinstance(data, list):
        return [to_json(item) for item in data]
    if isinstance(data, dict):
        return {key: to_json(value) for key, value in data.items()}
    return data


def save(artifact: Artifact, path: Path) -> None:
    """Write an artifact to ``.json`` or ``.npz``, atomically. Non-finite numbers are refused."""
    path = Path(path)
    if path.suffix == ".npz":
        content = _npz_bytes(artifact.data)
    elif path.suffix == ".json":
        content = (json.dumps(_finite(to_json(artifact.data))) + "\n").encode()
    else:
        raise ArtifactError(f"{path}: artifacts are stored as .json or .npz")
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _finite(data: Any) -> Any:
    if isinstance(data, str) and data in ("NaN", "Infinity", "-Infinity"):
        raise ArtifactError("an artifact with NaN or infinite numbers is invalid and is not stored")
    if isinstance(data, list):
        for item in data:
            _finite(item)
    elif isinstance(data, dict):
        for item in data.values():
            _finite(item)
    return data


def _npz_bytes(data: Plain) -> bytes:
    fields = data if isinstance(data, dict) else {"construction": data}
    buffer = io.BytesIO()
    arrays = {name: np.asarray(value) for name, value in fields.items() if value is not None}
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise ArtifactError(f"{name} has dtype {array.dtype}; .npz stores numbers only")
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def load(path: Path) -> Artifact:
    """Read an artifact file. Raises :class:`ArtifactError` or ``OSError``; never executes."""
    path = Path(path)
    if path.stat().st_size > MAX_ARTIFACT_BYTES:
        raise ArtifactError(f"{path}: larger than {MAX_ARTIFACT_BYTES >> 20} MiB")
    if path.suffix == ".npz":
        return Artifact(_read_npz(path))
    if path.suffix == ".json":
        return Artifact(_read_json(path))
    raise ArtifactError(f"{path}: artifacts are .json or .npz files")


def _read_json(path: Path) -> Plain:
    def refuse(name: str) -> Any:
        raise ArtifactError(f"{path}: {name} is not strict JSON")

    try:
        value = json.loads(path.read_bytes(), parse_constant=refuse)
        plain: Plain = _untag(value, path)
        return plain
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ArtifactError(f"{path}: not JSON ({error})") from None
    except ValueError as error:
        raise ArtifactError(str(error) if str(path) in str(error) else f"{path}: {error}") from None


def _untag(value: Any, path: Path) -> Any:
    """Replace the tagged objects of public releases by plain lists; a tuple is a list."""
    if isinstance(value, list):
        return [_untag(item, path) for item in value] if _any_nested(value) else value
    if not isinstance(value, dict):
        return value
    tag = next((value[name] for name in _TYPE_TAGS if name in value), None)
    if tag is None:
        return {key: _untag(item, path) for key, item in value.items()}
    if tag == "ndarray":
        try:
            array = np.asarray(value["data"], dtype=np.dtype(value["dtype"]))
            return array.reshape(value["shape"]).tolist()
        except (KeyError, TypeError, ValueError) as error:
            raise ArtifactError(f"{path}: broken tagged array ({error})") from None
    if tag == "tuple":
        items = [_untag(item, path) for item in value.get("items", [])]
        if not items:
            raise ArtifactError(f"{path}: tagged tuple without items")
        return items[0]  # a release stores (construction, claim, ...); the claim is not evidence
    raise ArtifactError(f"{path}: unknown tagged type {tag!r}")


def _any_nested(items: list[Any]) -> bool:
    return any(isinstance(item, list | dict) for item in items)


def _read_npz(path: Path) -> Plain:
    if not zipfile.is_zipfile(path):
        raise ArtifactError(f"{path}: not a readable .npz file")
    try:
        with np.load(path, allow_pickle=False) as archive:
            for entry in archive.zip.infolist():
                if entry.file_size > MAX_ARTIFACT_BYTES:
                    raise ArtifactError(f"{path}: {entry.filename} unpacks to too many bytes")
            arrays = {name: archive[name] for name in archive.files}
    except ArtifactError:
        raise
    except (OSError, ValueError, zipfile.BadZipFile, EOFError, KeyError) as error:
        if "pickle" in str(error):
            raise ArtifactError(f"{path}: holds pickled objects, which are never loaded") from None
        raise ArtifactError(f"{path}: not a readable .npz file ({error})") from None
    if not arrays:
        raise ArtifactError(f"{path}: holds no array")
    for name, array in arrays.items():
        if array.dtype.kind not in "biufU":
            raise ArtifactError(f"{path}: {name} has dtype {array.dtype}; need numbers or text")
    if len(arrays) == 1:
        only: Plain = next(iter(arrays.values()))
        return only
    fields: dict[str, Plain] = {}
    for name, array in arrays.items():
        fields[name] = array.item() if array.ndim == 0 else array
    return fields
