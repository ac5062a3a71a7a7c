"""Standard normal draws by the ziggurat method (G. Marsaglia, W. W. Tsang 2000), 256 layers.

About 98.8 % of the draws take one 64-bit number and a comparison; the others (wedge, tail) take
more numbers. :class:`NormalDraws` precomputes the first kind for a whole stretch of the stream.
"""

from __future__ import annotations

import math

import numpy as np

from tasks.algorithm_engineering.random_stream import RandomStream

LAYERS = 256
TAIL_START = 3.6541528853610088
LAYER_AREA = 0.00492867323399


def density(x: float) -> float:
    """The normal density without its constant factor."""
    return math.exp(-x * x / 2.0)


def _layer_edges() -> list[float]:
    edges = [LAYER_AREA / density(TAIL_START), TAIL_START]
    for _ in range(2, LAYERS):
        edges.append(math.sqrt(-2.0 * math.log(LAYER_AREA / edges[-1] + density(edges[-1]))))
    return [*edges, 0.0]


EDGES = _layer_edges()
"""Right ends of the layers, from the lowest (which has the tail) to 0 at the top."""

HEIGHTS = [density(edge) for edge in EDGES]
_EDGES = np.array(EDGES)


def normal(stream: RandomStream) -> float:
    """One standard normal draw."""
    while True:
        bits = stream.u64()
        layer = bits % LAYERS
        u = (bits >> 12) * 2.0**-51 - 1.0
        x = u * EDGES[layer]
        if abs(x) < EDGES[layer + 1]:
            return x
        if layer == 0:
            return _tail(stream, negative=u < 0.0)
        below, above = HEIGHTS[layer], HEIGHTS[layer + 1]
        if above + (below - above) * stream.unit53() < density(x):
            return x


def _tail(stream: RandomStream, *, negative: bool) -> float:
    x, y = 1.0, 0.0
    while -2.0 * y < x * x:
        first = stream.open01()
        second = stream.open01()
        x = math.log(first) / TAIL_START
        y = math.log(second)
    return x - TAIL_START if negative else TAIL_START - x


class NormalDraws:
    """What :func:`normal` would return at each of the next 64-bit numbers of a stream.

    ``values`` (count,) holds for those places where one number is enough; ``slow`` lists the
    others, ascending.
    """

    def __init__(self, stream: RandomStream, count: int) -> None:
        self.bits = stream.ahead(count)
        layer = (self.bits % np.uint64(LAYERS)).astype(np.int64)
        u = (self.bits >> np.uint64(12)).astype(np.float64) * 2.0**-51 - 1.0
        self.values = u * _EDGES[layer]
        self.slow = np.flatnonzero(~(np.abs(self.values) < _EDGES[layer + 1])).tolist()
