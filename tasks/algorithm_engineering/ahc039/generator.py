"""Inputs of AHC039 from their seeds: clusters of mackerels, then clusters of sardines."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from tasks.algorithm_engineering.random_stream import RandomStream, open_scale, round_half_away
from tasks.algorithm_engineering.ziggurat import NormalDraws, normal

FISH = 5000
"""Number of mackerels, and of sardines."""

SIDE = 100_000
"""Largest coordinate."""

_DRAWS_PER_FISH = 3  # which cluster, x, y: one 64-bit number each, unless a normal takes more


@dataclass(frozen=True)
class Clusters:
    """Gaussian clusters: weights (n,), centres (n, 2), spreads (n,)."""

    weights: list[float]
    centres: list[tuple[int, int]]
    spreads: list[int]


def draw_clusters(stream: RandomStream) -> Clusters:
    """The clusters of one kind of fish."""
    n = stream.integer(10, 25)
    weights = [stream.unit53() for _ in range(n)]
    centres = [(stream.integer(20_000, 80_000), stream.integer(20_000, 80_000)) for _ in range(n)]
    return Clusters(weights, centres, [stream.integer(1000, 5000) for _ in range(n)])


def generate(seed: int) -> bytes:
    """The input file of a seed."""
    stream = RandomStream(seed)
    shoal = np.empty((0, 2), dtype=np.int64)
    for kind in (1, 2):
        shoal = _add_fish(stream, draw_clusters(stream), shoal, kind * FISH)
    lines = map("%d %d\n".__mod__, map(tuple, shoal.tolist()))
    return f"{FISH}\n{''.join(lines)}".encode()


def _add_fish(
    stream: RandomStream, clusters: Clusters, shoal: NDArray[np.int64], wanted: int
) -> NDArray[np.int64]:
    """Draw positions until there are ``wanted`` different ones inside the square."""
    while len(shoal) < wanted:
        # Exactly as many as are missing, so that no draw is made that the contest would not make.
        drawn = _draw_positions(stream, clusters, wanted - len(shoal))
        shoal = np.concatenate([shoal, drawn[((drawn >= 0) & (drawn <= SIDE)).all(axis=1)]])
        _, first = np.unique(shoal[:, 0] * (SIDE + 1) + shoal[:, 1], return_index=True)
        shoal = shoal[np.sort(first)]
    return shoal


def _draw_positions(stream: RandomStream, clusters: Clusters, count: int) -> NDArray[np.int64]:
    """The next ``count`` positions (count, 2), whether inside the square or not."""
    *partial_sums, total = accumulate(clusters.weights)
    units, offsets = _draw_numbers(stream, count)
    chosen = np.searchsorted(partial_sums, units * open_scale(total), side="right")
    centres, spreads = np.array(clusters.centres), np.array(clusters.spreads)
    return round_half_away(centres[chosen] + spreads[chosen, None] * offsets)


def _draw_numbers(
    stream: RandomStream, count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """For each position a ``unit52`` (count,) and two normals (count, 2), in stream order.

    Stretches in which every normal takes one number are copied whole; only the position that ends
    such a stretch is drawn number by number.
    """
    units, offsets = np.empty(count), np.empty((count, 2))
    done = 0
    while done < count:
        draws = NormalDraws(stream, _DRAWS_PER_FISH * (count - done))
        start, used = stream.position, 0  # used: 64-bit numbers of this stretch
        for place in [*draws.slow, len(draws.values)]:
            fast, part = divmod(place - used, _DRAWS_PER_FISH)
            if place < used or (part == 0 and place < len(draws.values)):
                continue  # consumed by a slow normal, or a choice of cluster
            fast = min(fast, count - done)
            taken = slice(used, used + _DRAWS_PER_FISH * fast)
            units[done : done + fast] = (draws.bits[taken][0::3] >> np.uint64(12)) * 2.0**-52
            offsets[done : done + fast, 0] = draws.values[taken][1::3]
            offsets[done : done + fast, 1] = draws.values[taken][2::3]
            done += fast
            stream.position = start + 2 * taken.stop
            if done < count:
                units[done] = stream.unit52()
                offsets[done] = normal(stream), normal(stream)
                done += 1
            used = (stream.position - start) // 2
    return units, offsets
