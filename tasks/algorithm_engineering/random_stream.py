"""The contests' random numbers, bit for bit: seed expansion, ChaCha20, derived draws.

A seed becomes a ChaCha20 key through a permuted congruential generator (PCG XSH-RR 64/32,
M. O'Neill 2014); the numbers are the plain key stream (D. J. Bernstein 2008) read in 32-bit words.
Floats are IEEE doubles without fused multiply-add.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_PCG_FACTOR = 6364136223846793005
_PCG_STEP = 11634580027462260723
_LOW_64 = 2**64 - 1
_LOW_32 = 2**32 - 1
_CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)
_COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
_DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
_FIRST_BLOCKS = 64
_LARGEST_UNIT52 = 1.0 - 2.0**-52


def expand_seed(seed: int) -> list[int]:
    """The eight 32-bit key words of a seed in 0 .. 2^64 - 1."""
    state, words = seed, []
    for _ in range(8):
        state = (state * _PCG_FACTOR + _PCG_STEP) & _LOW_64
        mixed = (((state >> 18) ^ state) >> 27) & _LOW_32
        turn = state >> 59
        words.append((mixed >> turn | mixed << (32 - turn)) & _LOW_32)
    return words


def chacha20_words(key: list[int], first_block: int, blocks: int) -> NDArray[np.uint32]:
    """Key stream of consecutive blocks, 16 words each: shape (16 * blocks,)."""
    counter = np.arange(first_block, first_block + blocks, dtype=np.uint64)
    start = [np.full(blocks, word, dtype=np.uint32) for word in (*_CONSTANTS, *key)]
    start += [counter.astype(np.uint32), (counter >> np.uint64(32)).astype(np.uint32)]
    start += [np.zeros(blocks, dtype=np.uint32)] * 2
    state = [word.copy() for word in start]
    for _ in range(10):
        for quarter in (*_COLUMNS, *_DIAGONALS):
            _mix(state, *quarter)
    stream = [now + before for now, before in zip(state, start, strict=True)]
    return np.stack(stream, axis=1).ravel()


def _mix(state: list[NDArray[np.uint32]], a: int, b: int, c: int, d: int) -> None:
    """One quarter round, in place."""
    for target, added, turned, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        state[target] += state[added]
        state[turned] ^= state[target]
        word = state[turned]
        state[turned] = word << np.uint32(turn) | word >> np.uint32(32 - turn)


class RandomStream:
    """Draws from one seed's key stream; 32-bit and 64-bit draws share its words in order."""

    def __init__(self, seed: int) -> None:
        self._key = expand_seed(seed)
        self._words = chacha20_words(self._key, 0, _FIRST_BLOCKS)
        self.position = 0
        """Words consumed so far."""

    def _reach(self, words: int) -> None:
        """Make ``words`` words ahead available."""
        have = len(self._words)
        if self.position + words > have:
            missing = max(have, self.position + words - have)
            more = chacha20_words(self._key, have // 16, -(-missing // 16))
            self._words = np.concatenate([self._words, more])

    def u32(self) -> int:
        """The next word."""
        self._reach(1)
        self.position += 1
        return int(self._words[self.position - 1])

    def u64(self) -> int:
        """The next two words, the first is the low half."""
        low = self.u32()
        return low | self.u32() << 32

    def ahead(self, count: int) -> NDArray[np.uint64]:
        """The next ``count`` 64-bit draws, not consumed."""
        self._reach(2 * count)
        words = self._words[self.position : self.position + 2 * count].astype(np.uint64)
        return words[0::2] | words[1::2] << np.uint64(32)

    def integer(self, low: int, high: int) -> int:
        """Uniform in ``low .. high``, by multiplication and rejection."""
        width = high - low + 1
        zone = (width << (32 - width.bit_length())) - 1
        while True:
            product = self.u32() * width
            if product & _LOW_32 <= zone:
                return low + (product >> 32)

    def unit53(self) -> float:
        """A multiple of 2^-53 in [0, 1)."""
        return (self.u64() >> 11) * 2.0**-53

    def unit52(self) -> float:
        """A multiple of 2^-52 in [0, 1)."""
        return (self.u64() >> 12) * 2.0**-52

    def open01(self) -> float:
        """In the open interval (0, 1)."""
        return ((self.u64() >> 12) * 2.0**-52 + 1.0) - (1.0 - 2.0**-53)


def open_scale(limit: float) -> float:
    """The factor that maps ``unit52`` to [0, ``limit``): its largest value must stay below."""
    scale = limit
    while scale * _LARGEST_UNIT52 >= limit:
        scale = math.nextafter(scale, 0.0)
    return scale


def closed_scale(limit: float) -> float:
    """The factor that maps ``unit52`` to [0, ``limit``], both ends included."""
    scale = limit / _LARGEST_UNIT52
    while scale * _LARGEST_UNIT52 > limit:
        scale = math.nextafter(scale, 0.0)
    return scale


def round_half_away(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Nearest integers; a half goes away from zero."""
    whole = np.trunc(values)
    rounded: NDArray[np.int64] = whole.astype(np.int64)
    rounded += np.sign(values).astype(np.int64) * (np.abs(values - whole) >= 0.5)
    return rounded
