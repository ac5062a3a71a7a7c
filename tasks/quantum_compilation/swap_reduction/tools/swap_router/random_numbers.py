"""The random numbers of the router: PCG with a 128-bit multiplicative state (MCG 128 XSL-RR 64)."""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import Any

_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_MASK_128 = (1 << 128) - 1
_MASK_64 = (1 << 64) - 1
_MASK_32 = (1 << 32) - 1
_SEED_MULTIPLIER = 6364136223846793005
_SEED_INCREMENT = 11634580027462260723


class RngState:
    """A stream of random numbers that depends on its seed alone (0 to 2**64 - 1)."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = _spread(seed) | 1

    @classmethod
    def from_state(cls, state: int) -> RngState:
        """A stream from a 128-bit state given directly; its lowest bit is set."""
        stream = cls.__new__(cls)
        stream._state = state | 1
        return stream

    def next_u64(self) -> int:
        """64 random bits."""
        self._state = state = self._state * _MULTIPLIER & _MASK_128
        folded = (state >> 64) ^ (state & _MASK_64)
        turn = state >> 122
        return (folded >> turn | folded << (64 - turn)) & _MASK_64

    def next_u32(self) -> int:
        """32 random bits; uses up as much of the stream as 64."""
        return self.next_u64() & _MASK_32

    def gen_f64(self) -> float:
        """Uniform in [0, 1), a multiple of 2**-53."""
        return (self.next_u64() >> 11) * 2.0**-53

    def gen_index(self, upper: int) -> int:
        """Uniform in 0 .. upper - 1; 0 without a draw when ``upper`` is at most 1."""
        if upper <= 1:
            return 0
        if upper > _MASK_32:
            return self._gen_wide_index(upper)
        product = self.next_u32() * upper
        index, rest = product >> 32, product & _MASK_32
        if rest > (-upper & _MASK_32):
            index += (rest + (self.next_u32() * upper >> 32)) >> 32
        return index

    def _gen_wide_index(self, upper: int) -> int:
        product = self.next_u64() * upper
        index, rest = product >> 64, product & _MASK_64
        if rest > (-upper & _MASK_64):
            index += (rest + (self.next_u64() * upper >> 64)) >> 64
        return index

    def shuffle_slice(self, items: MutableSequence[Any]) -> None:
        """Fisher and Yates, from the last place down to the second."""
        for last in range(len(items) - 1, 0, -1):
            other = self.gen_index(last + 1)
            items[last], items[other] = items[other], items[last]


def _spread(seed: int) -> int:
    """Fill 128 bits from a 64-bit seed: four words of a small PCG (XSH RR 64/32)."""
    state = 0
    for word in range(4):
        seed = (seed * _SEED_MULTIPLIER + _SEED_INCREMENT) & _MASK_64
        folded = ((seed >> 18) ^ seed) >> 27 & _MASK_32
        turn = seed >> 59
        state |= ((folded >> turn | folded << (32 - turn)) & _MASK_32) << (32 * word)
    return state
