"""The codec at the sandbox's border: what survives, what is refused, what malice can cost."""

from __future__ import annotations

import json
import math
import struct
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from benchmark.sandbox.inside import wire
from benchmark.sandbox.inside.wire import Opaque, OtherIterable, WireError, pack, unpack


def through(value: Any) -> Any:
    return unpack(pack(value))


def forged(tree: Any, blob: bytes = b"", **header: Any) -> bytes:
    """A frame that only malice would send."""
    text = json.dumps({"v": tree, **header}, separators=(",", ":")).encode()
    return struct.pack("<QQ", len(text), len(blob)) + text + blob


def same(left: Any, right: Any) -> bool:
    """Equal in value and type, NaN included."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, np.ndarray | np.generic):
        return left.dtype == right.dtype and np.array_equal(
            left, right, equal_nan=left.dtype.kind in "fc"
        )
    if isinstance(left, float):
        return left == right or (math.isnan(left) and math.isnan(right))
    return bool(left == right)


hashable = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5)
)
arrays = hnp.arrays(
    dtype=st.one_of(
        hnp.boolean_dtypes(), hnp.integer_dtypes(), hnp.unsigned_integer_dtypes(),
        hnp.floating_dtypes(sizes=(16, 32, 64)), hnp.complex_number_dtypes(sizes=(64, 128)),
        hnp.unicode_string_dtypes(max_len=4),
    ),
    shape=hnp.array_shapes(min_dims=0, min_side=0, max_dims=3, max_side=4),
)  # fmt: skip
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), arrays),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(hashable, inner, max_size=4),
        st.sets(hashable, max_size=4),
        st.frozensets(hashable, max_size=4),
    ),
    max_leaves=12,
)


@given(values)
def test_plain_data_survives_as_itself(value: Any) -> None:
    assert same(through(value), value)


@given(st.lists(st.integers(), min_size=wire.PACK_FROM - 1, max_size=40))
def test_long_lists_of_integers(items: list[int]) -> None:
    assert same(through(items), items)


@given(st.lists(st.floats(), min_size=wire.PACK_FROM - 1, max_size=40))
def test_long_lists_of_floats(items: list[float]) -> None:
    assert same(through(items), items)
    assert same(through(tuple(items)), tuple(items))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int32, np.int8])
def test_lists_of_numpy_scalars_keep_their_type(kind: type[np.generic]) -> None:
    items = [kind(3)] * 20
    assert same(through(items), items)


@given(st.binary(max_size=200))
def test_noise_is_refused(noise: bytes) -> None:
    with pytest.raises(WireError):
        unpack(noise)


@settings(max_examples=200)
@given(values, st.data())
def test_damaged_frames_are_refused_or_plain(value: Any, data: st.DataObject) -> None:
    frame = bytearray(pack(value))
    place = data.draw(st.integers(16, len(frame) - 1))
    frame[place] = data.draw(st.integers(0, 255))
    try:
        unpack(bytes(frame))
    except WireError:
        pass


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from("tvndsokp"), inner, max_size=6),
        st.fixed_dictionaries(
            {
                "t": st.sampled_from(["nd", "np", "list", "set", "dict", "int", "float", "iter"]),
                "d": st.sampled_from(["<f8", "O", "V8", "<U3", "M8[s]", "i4,i4", "", "f8"]),
                "s": inner, "o": st.lists(st.integers(-9, 99), max_size=3), "v": inner,
                "k": inner, "n": inner, "p": st.sampled_from(["float", "int", "<f8", "<U9", None]),
            }
        ),
    ),
    max_leaves=10,
)  # fmt: skip


@settings(max_examples=300)
@given(json_values, st.binary(max_size=64))
def test_forged_trees_are_refused_or_plain(tree: Any, blob: bytes) -> None:
    try:
        value = unpack(forged(tree, blob))
    except WireError:
        return
    pack(value)  # what is accepted is plain data


class Liar(float):
    def __float__(self) -> float:
        return 1e9


class LyingList(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        return iter([9])


class LyingArray(np.ndarray):
    def tobytes(self, order: Any = None) -> bytes:
        return b"\xff" * self.nbytes


class WithArray:
    def __array__(self, *arguments: Any, **named: Any) -> np.ndarray[Any, Any]:
        return np.array([1.0, 2.0])


def test_subclasses_arrive_as_their_base() -> None:
    assert same(through(Liar(0.5)), 0.5)
    assert same(through(LyingList([1, 2])), [1, 2])
    array = np.array([1.0, 2.0])
    assert same(through(array.view(LyingArray)), array)
    assert same(through(WithArray()), array)


def test_strangers_arrive_as_names() -> None:
    answer = through([object(), b"bytes", range(3), 1 << 9000, np.array([object()])])
    assert [type(item) for item in answer] == [Opaque, Opaque, OtherIterable, Opaque, Opaque]
    assert [getattr(item, "type_name", "") for item in answer] == [
        "object", "bytes", "range", "int of 9001 bits", "array of dtype object",
    ]  # fmt: skip
    assert list(answer[2]) == [0, 1, 2]
    named = type("\x1b[2J" + "x" * 500, (), {})()
    assert through(named).type_name == "[2J" + "x" * 96


def test_too_much_is_an_error_with_a_reason() -> None:
    def counting() -> Any:
        number = 0
        while True:
            yield number
            number += 1

    with pytest.raises(WireError, match="more than 2000000 items"):
        pack(counting())
    with pytest.raises(WireError, match="more than 8000000 items"):
        pack([np.zeros(1_900_000).tolist()] * 5)
    with pytest.raises(WireError, match="too large"):
        pack(np.zeros(wire.MAX_BLOB // 8 + 1))
    nest: Any = 1
    for _ in range(wire.MAX_DEPTH + 2):
        nest = [nest]
    with pytest.raises(WireError, match="nested more than"):
        pack(nest)


@pytest.mark.parametrize(
    "frame",
    [
        struct.pack("<QQ", 2**62, 0),
        struct.pack("<QQ", 2, 2**62) + b"{}",
        struct.pack("<QQ", 3, 0) + b"{}",
        struct.pack("<QQ", 2, 0) + b"{}",
        struct.pack("<QQ", 2, 0) + b"\xff\xfe",
        forged([1]),
        forged({"t": "pickle", "v": "cos\nsystem"}),
        forged({"t": "nd", "d": "O", "s": [1], "o": [0, 8]}, bytes(8)),
        forged({"t": "nd", "d": "V8", "s": [1], "o": [0, 8]}, bytes(8)),
        forged({"t": "nd", "d": "<f16", "s": [1], "o": [0, 16]}, bytes(16)),
        forged({"t": "nd", "d": ["f8"], "s": [1], "o": [0, 8]}, bytes(8)),
        forged({"t": "nd", "d": "<f8", "s": [2], "o": [0, 8]}, bytes(8)),
        forged({"t": "nd", "d": "<f8", "s": [1], "o": [-8, 8]}, bytes(8)),
        forged({"t": "nd", "d": "<f8", "s": [1], "o": [4, 8]}, bytes(8)),
        forged({"t": "nd", "d": "<f8", "s": [1], "o": [0.0, 8]}, bytes(8)),
        forged({"t": "list", "p": "|i1", "o": [0, 8]}, bytes(8)),
        forged({"t": "list", "v": "abc"}),
        forged({"t": "list", "p": "float", "o": [0, 7]}, bytes(8)),
        forged({"t": "int", "v": "f" * 100_000}),
        forged({"t": "dict", "k": [[1]], "v": [1]}),
        forged({"t": "dict", "k": [1, 2], "v": [1]}),
        forged({"t": "set", "v": [{"t": "list", "v": []}]}),
        struct.pack("<QQ", 200_005, 0) + b'{"v":' + b"[" * 200_000,
    ],
)
def test_malformed_frames(frame: bytes) -> None:
    with pytest.raises(WireError):
        unpack(frame)


def test_one_place_cannot_be_taken_twice() -> None:
    one = {"t": "list", "p": "float", "o": [0, 800]}
    assert len(unpack(forged({"t": "list", "v": [one]}, bytes(800)))[0]) == 100
    with pytest.raises(WireError, match="overlap"):
        unpack(forged({"t": "list", "v": [one, one]}, bytes(800)))


def test_items_are_counted_over_all_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_ALL_ITEMS", 10_000)
    some = {"t": "list", "v": [0] * 1000}
    assert len(unpack(forged({"t": "list", "v": [some] * 9}))) == 9
    with pytest.raises(WireError, match="more items"):
        unpack(forged({"t": "list", "v": [some] * 11}))


def test_colliding_hashes_do_not_hold_up_the_harness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "HASHING_S", 0.3)
    modulus = 2**61 - 1  # hash(n) is n modulo this
    items = [{"t": "int", "v": hex(number * modulus)} for number in range(1, 40_000)]
    for tree in ({"t": "set", "v": items}, {"t": "dict", "k": items, "v": [0] * len(items)}):
        started = time.monotonic()
        with pytest.raises(WireError, match="colliding"):
            unpack(forged(tree))
        assert time.monotonic() - started < 10.0
