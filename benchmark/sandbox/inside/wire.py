"""How values cross the sandbox's border: frames of typed plain data, nothing executable.

One frame is the length of a header and of a blob (little-endian uint64 each), a JSON header (the
value's tree) and the blob (the raw bytes of arrays and of long uniform lists). Both ends use this
module; only the trusted end relies on its checks.

Types that survive the journey as themselves: None, bool, int, float, str, list, tuple, set,
frozenset, dict, numpy arrays (booleans, integers, floats, complex numbers, text) and numpy scalars
of those kinds. A subclass arrives as its base; an object with ``__array__`` as an array; any other
iterable as :class:`OtherIterable` with its items; anything else as :class:`Opaque`, which names the
type and carries nothing.
"""

from __future__ import annotations

import json
import math
import struct
import sys
import time
from array import array
from itertools import islice

TYPE_CHECKING = False  # importing typing would cost every candidate's start some milliseconds
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any

LENGTHS = struct.Struct("<QQ")
MAX_HEADER = 32 * 2**20
MAX_BLOB = 256 * 2**20
MAX_DEPTH = 64
MAX_ITEMS = 2_000_000  # of one container that is no array
MAX_ALL_ITEMS = 8_000_000  # of all of them: each takes many more bytes than it is sent in
MAX_NAME = 100
HASHING_S = 5.0
MAX_INT_BITS = 8192
PACK_FROM = 16  # shorter uniform lists stay in the header
ARRAY_KINDS = "biufcU"
PACKED_SCALARS = ("f8", "f4", "i8", "i4")
_FLOATS = ("f2", "f4", "f8", "c8", "c16")

_INT64 = range(-(2**63), 2**63)
_SEQUENCES: dict[str, Any] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


class WireError(ValueError):
    """A frame or a value that this codec refuses."""


class OtherIterable:
    """The items of an iterable that is none of the known containers, and the name of its type."""

    def __init__(self, type_name: str, items: list[Any]) -> None:
        self.type_name = type_name
        self.items = items

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __repr__(self) -> str:
        return f"<{self.type_name} of {len(self.items)} items>"


class Opaque:
    """Stands for a value that cannot cross the border; knows only the name of its type."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def __repr__(self) -> str:
        return f"<{self.type_name}>"


# --- encoding ----------------------------------------------------------------------------------


def pack(value: Any) -> bytes:
    """One frame (bytes) for ``value``. Raises :class:`WireError` when it is too big or deep."""
    blobs = Blobs()
    return _frame(encode(value, blobs), blobs)


def pack_answers(nodes: list[Any], blobs: Blobs) -> bytes:
    """The frame of a runner whose calls returned what :func:`encode` made ``nodes`` of."""
    values = {"t": "list", "v": nodes}
    return _frame({"t": "dict", "k": ["status", "values"], "v": ["returned", values]}, blobs)


def encode(value: Any, blobs: Blobs) -> Any:
    """A snapshot of ``value``: its tree; the bytes of arrays go to ``blobs``."""
    return _encode(value, blobs, 0)


def _frame(tree: Any, blobs: Blobs) -> bytes:
    header = json.dumps({"v": tree}, separators=(",", ":"), allow_nan=False).encode("ascii")
    if len(header) > MAX_HEADER or blobs.size > MAX_BLOB:
        raise WireError("the value is too large to bring out of the sandbox")
    return b"".join([LENGTHS.pack(len(header), blobs.size), header, *blobs.parts])


class Blobs:
    """The bytes of one frame behind its header."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self.items = 0

    def add(self, content: bytes) -> list[int]:
        offset = self.size
        self.parts.append(content)
        self.size += len(content)
        return [offset, len(content)]


def _encode(value: Any, blobs: Blobs, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise WireError(f"the value is nested more than {MAX_DEPTH} levels deep")
    if value is None or value is True or value is False:
        return value
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(value, numpy.ndarray):
            return _encode_array(value, numpy, blobs)
        if isinstance(value, numpy.generic):
            return _encode_scalar(value, numpy, blobs)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        number = int.__int__(value)
        if number in _INT64:
            return number
        if number.bit_length() > MAX_INT_BITS:
            return {"t": "opaque", "n": f"int of {number.bit_length()} bits"}
        return {"t": "int", "v": hex(number)}
    if isinstance(value, float):
        real = float.__float__(value)
        return real if math.isfinite(real) else {"t": "float", "v": repr(real)}
    if isinstance(value, dict):
        items = list(dict.items(value))
        return {
            "t": "dict",
            "k": [_encode(key, blobs, depth + 1) for key, _ in items],
            "v": [_encode(item, blobs, depth + 1) for _, item in items],
        }
    for name, kind in _SEQUENCES.items():
        if isinstance(value, kind):
            return _encode_items(name, list(kind.__iter__(value)), blobs, depth)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"t": "opaque", "n": type(value).__name__}
    if hasattr(type(value), "__array__"):
        numpy = __import__("numpy")
        return _encode_array(numpy.asarray(value), numpy, blobs)
    if hasattr(type(value), "__iter__"):
        items = list(islice(iter(value), MAX_ITEMS + 1))
        node = _encode_items("iter", items, blobs, depth)
        node["n"] = type(value).__name__
        return node
    return {"t": "opaque", "n": type(value).__name__}


def _encode_items(name: str, items: list[Any], blobs: Blobs, depth: int) -> dict[str, Any]:
    blobs.items += len(items)
    if len(items) > MAX_ITEMS or blobs.items > MAX_ALL_ITEMS:
        most = MAX_ITEMS if len(items) > MAX_ITEMS else MAX_ALL_ITEMS
        raise WireError(f"a {name} holds more than {most} items: return an array")
    if len(items) >= PACK_FROM:
        types = set(map(type, items))
        if types == {float}:
            return {"t": name, "p": "float", "o": blobs.add(array("d", items).tobytes())}
        if types == {int} and all(item in _INT64 for item in items):
            return {"t": name, "p": "int", "o": blobs.add(array("q", items).tobytes())}
        numpy = sys.modules.get("numpy")
        if numpy is not None and len(types) == 1:
            (only,) = types
            if issubclass(only, numpy.number) and numpy.dtype(only).str[1:] in PACKED_SCALARS:
                packed = numpy.array(items, dtype=only)
                return {"t": name, "p": packed.dtype.str, "o": blobs.add(packed.tobytes())}
    return {"t": name, "v": [_encode(item, blobs, depth + 1) for item in items]}


def _encode_array(value: Any, numpy: ModuleType, blobs: Blobs) -> dict[str, Any]:
    plain = numpy.asarray(value)
    if plain.dtype.kind == "f" and plain.dtype.itemsize > 8:
        plain = plain.astype(numpy.float64)
    if plain.dtype.kind == "c" and plain.dtype.itemsize > 16:
        plain = plain.astype(numpy.complex128)
    if plain.dtype.kind not in ARRAY_KINDS:
        return {"t": "opaque", "n": f"array of dtype {plain.dtype}"}
    if plain.nbytes > MAX_BLOB:
        raise WireError(f"an array of {plain.nbytes} bytes is too large to bring out")
    ordered = numpy.ascontiguousarray(plain).reshape(plain.shape)
    return {
        "t": "nd",
        "d": ordered.dtype.str,
        "s": list(ordered.shape),
        "o": blobs.add(ordered.tobytes()),
    }


def _encode_scalar(value: Any, numpy: ModuleType, blobs: Blobs) -> dict[str, Any]:
    node = _encode_array(numpy.asarray(value), numpy, blobs)
    if node["t"] == "nd":
        node["t"] = "np"
    return node


# --- decoding (the trusted end's checks) -------------------------------------------------------


def lengths(prefix: bytes) -> tuple[int, int]:
    """Header and blob length of a frame from its first 16 bytes; refuses absurd ones."""
    header, blob = LENGTHS.unpack(prefix)
    if header > MAX_HEADER or blob > MAX_BLOB:
        raise WireError("the frame announces more bytes than are allowed")
    return header, blob


def unpack(frame: bytes) -> Any:
    """The value of one whole frame. Raises :class:`WireError` for anything malformed."""
    if len(frame) < LENGTHS.size:
        raise WireError("the frame is cut off")
    header_size, blob_size = lengths(frame[: LENGTHS.size])
    if len(frame) != LENGTHS.size + header_size + blob_size:
        raise WireError("the frame has a wrong length")
    header = frame[LENGTHS.size : LENGTHS.size + header_size]
    blob = memoryview(frame)[LENGTHS.size + header_size :]
    try:
        return _Decoder(blob).decode(json.loads(header)["v"], 0)
    except WireError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, RecursionError, OverflowError) as error:
        raise WireError(f"the frame is malformed ({type(error).__name__})") from None


class _Decoder:
    """Builds one value; what it may take is bounded by what was sent, not by what is claimed."""

    def __init__(self, blob: memoryview) -> None:
        self.blob = blob
        self.bytes_left = len(blob)
        self.items_left = MAX_ALL_ITEMS

    def decode(self, node: Any, depth: int) -> Any:
        if depth > MAX_DEPTH + 1:
            raise WireError("the frame is malformed (depth)")
        if not isinstance(node, dict):
            if isinstance(node, list):
                raise WireError("the frame is malformed (bare list)")
            return node
        kind = node["t"]
        if kind in ("list", "tuple"):
            return _SEQUENCES[kind](self._items(node, depth))
        if kind in ("set", "frozenset"):
            return _SEQUENCES[kind](_hashed(set(), self._items(node, depth)))
        if kind == "iter":
            return OtherIterable(_name(node["n"]), self._items(node, depth))
        if kind == "dict":
            keys = self._decoded(node["k"], depth)
            pairs = list(zip(keys, self._decoded(node["v"], depth), strict=True))
            return _hashed({}, pairs)
        if kind in ("nd", "np"):
            values = self._array(node["d"], node["o"]).reshape(tuple(node["s"]))
            return values if kind == "nd" else values[()]
        if kind == "int":
            if len(node["v"]) > MAX_INT_BITS:
                raise WireError("the frame is malformed (integer)")
            return int(node["v"], 16)
        if kind == "float":
            return float({"nan": "nan", "inf": "inf", "-inf": "-inf"}[node["v"]])
        if kind == "opaque":
            return Opaque(_name(node["n"]))
        raise WireError("the frame is malformed (unknown type)")

    def _items(self, node: dict[str, Any], depth: int) -> list[Any]:
        packed = node.get("p")
        if packed is None:
            return self._decoded(node["v"], depth)
        if packed in ("float", "int"):
            content = self._slice(node["o"])
            self._count(len(content) // 8)
            items: array[Any] = array("d" if packed == "float" else "q")
            items.frombytes(content)
            return items.tolist()
        if str(packed)[1:] not in PACKED_SCALARS:
            raise WireError("the frame is malformed (dtype)")
        values = self._array(packed, node["o"])
        self._count(len(values))
        return list(values)

    def _decoded(self, nodes: Any, depth: int) -> list[Any]:
        if not isinstance(nodes, list):
            raise WireError("the frame is malformed (items)")
        self._count(len(nodes))
        return [self.decode(node, depth + 1) for node in nodes]

    def _count(self, items: int) -> None:
        self.items_left -= items
        if items > MAX_ITEMS or self.items_left < 0:
            raise WireError("the frame holds more items than are allowed")

    def _array(self, dtype_name: Any, place: Any) -> Any:
        import numpy

        if not isinstance(dtype_name, str) or dtype_name[1:2] not in tuple(ARRAY_KINDS):
            raise WireError("the frame is malformed (dtype)")
        dtype = numpy.dtype(dtype_name)
        if dtype.kind not in ARRAY_KINDS or (dtype.kind in "fc" and dtype.str[1:] not in _FLOATS):
            raise WireError("the frame is malformed (dtype)")
        if dtype.itemsize == 0:
            return numpy.empty(0, dtype)
        return numpy.frombuffer(self._slice(place), dtype=dtype).copy()

    def _slice(self, place: Any) -> memoryview:
        """Each byte can be taken once: many references to one place would multiply it."""
        offset, size = place
        if type(offset) is not int or type(size) is not int:
            raise WireError("the frame is malformed (offset)")
        if not 0 <= offset <= offset + size <= len(self.blob):
            raise WireError("the frame is malformed (offset)")
        self.bytes_left -= size
        if self.bytes_left < 0:
            raise WireError("the frame is malformed (overlap)")
        return self.blob[offset : offset + size]


def _hashed(built: Any, items: list[Any]) -> Any:
    """Fill a set or a dictionary; numbers can be chosen so that it would take hours."""
    deadline = time.monotonic() + HASHING_S
    for start in range(0, len(items), 256):
        built.update(items[start : start + 256])
        if time.monotonic() > deadline:
            raise WireError("the items of a set or dictionary have colliding hashes")
    return built


def _name(value: Any) -> str:
    """The name of a type, as something that can be printed in a line."""
    return "".join(letter for letter in str(value)[:MAX_NAME] if letter.isprintable())
