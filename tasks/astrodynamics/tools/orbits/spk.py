"""Reading planet positions from a binary SPK kernel: Chebyshev position segments (type 2).

Layout: NAIF, "SPK Required Reading" and "DAF Required Reading". The file is mapped, not read, so
opening a large kernel costs as little as opening an excerpt.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .vectors import Triple, Vector

_RECORD_BYTES = 1024
_WORD_BYTES = 8
_SUMMARY = struct.Struct("<dd6i")
_TYPE_CHEBYSHEV_POSITION = 2
_FRAME_J2000 = 1


class KernelError(ValueError):
    """The file is no kernel that this reader understands; the message says what is wrong."""


@dataclass(frozen=True)
class Segment:
    """Chebyshev coefficients of one body relative to a centre.

    ``records`` has shape (intervals, 2 + 3 n): midpoint and half-length of the interval (seconds),
    then n coefficients of x, of y and of z (km). ``start`` and ``length`` give the intervals;
    ``first`` and ``last`` are the ends of the span that the segment vouches for.
    """

    target: int
    center: int
    first: float
    last: float
    start: float
    length: float
    records: Vector

    def state(self, tdb: float) -> tuple[Triple, Triple]:
        """Position (km) and velocity (km/s) at a time inside the span."""
        index = min(int((tdb - self.start) / self.length), len(self.records) - 1)
        record = self.records[index].tolist()
        terms = (len(record) - 2) // 3
        half = record[1]
        two_x = 2.0 * (tdb - record[0]) / half
        # Clenshaw's recurrence for the three series and their derivatives in one pass.
        p = q = r = p1 = q1 = r1 = dp = dq = dr = dp1 = dq1 = dr1 = 0.0
        x_at, y_at, z_at = 1 + terms, 1 + 2 * terms, 1 + 3 * terms
        for k in range(terms - 1):
            dp, dp1 = 2.0 * p + two_x * dp - dp1, dp
            dq, dq1 = 2.0 * q + two_x * dq - dq1, dq
            dr, dr1 = 2.0 * r + two_x * dr - dr1, dr
            p, p1 = record[x_at - k] + two_x * p - p1, p
            q, q1 = record[y_at - k] + two_x * q - q1, q
            r, r1 = record[z_at - k] + two_x * r - r1, r
        x = 0.5 * two_x
        return (
            (
                record[2] + x * p - p1,
                record[2 + terms] + x * q - q1,
                record[2 + 2 * terms] + x * r - r1,
            ),
            (
                (p + x * dp - dp1) / half,
                (q + x * dq - dq1) / half,
                (r + x * dr - dr1) / half,
            ),
        )

    def states(self, tdb: Vector) -> tuple[Vector, Vector]:
        """Positions and velocities, shape (N, 3) each, at N times inside the span."""
        index = ((tdb - self.start) / self.length).astype(np.intp)
        records = self.records[np.minimum(index, len(self.records) - 1)]
        half = records[:, 1]
        x = (tdb - records[:, 0]) / half
        coefficients = records[:, 2:].reshape(len(tdb), 3, -1)
        value, slope = _chebyshev(x, coefficients.shape[2])
        r = np.einsum("nck,kn->nc", coefficients, value)
        v = np.einsum("nck,kn->nc", coefficients, slope)
        return r, v / half[:, None]


def _chebyshev(x: Vector, terms: int) -> tuple[Vector, Vector]:
    """Chebyshev polynomials of the first kind and their derivatives, shape (terms, N)."""
    value = np.zeros((max(terms, 2), len(x)))
    slope = np.zeros_like(value)
    value[0], value[1], slope[1] = 1.0, x, 1.0
    for k in range(2, terms):
        value[k] = 2.0 * x * value[k - 1] - value[k - 2]
        slope[k] = 2.0 * value[k - 1] + 2.0 * x * slope[k - 1] - slope[k - 2]
    return value[:terms], slope[:terms]


def read_kernel(path: Path) -> list[Segment]:
    """The type 2 segments of a kernel in J2000 axes. Raises :class:`KernelError`, ``OSError``."""
    with path.open("rb") as file:
        try:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise KernelError(f"{path.name}: the file is empty") from None
    if content[:8] != b"DAF/SPK " or content[88:96] != b"LTL-IEEE":
        raise KernelError(f"{path.name}: not a little-endian binary SPK kernel")
    components = struct.unpack_from("<2i", content, 8)
    if components != (2, 6):
        raise KernelError(f"{path.name}: summaries of {components} components instead of (2, 6)")
    words = np.frombuffer(content, dtype="<f8", count=len(content) // _WORD_BYTES)
    try:
        segments = [
            _segment(words, *summary)
            for summary in _summaries(content)
            if summary[5] == _TYPE_CHEBYSHEV_POSITION and summary[4] == _FRAME_J2000
        ]
    except (struct.error, IndexError, ValueError) as error:
        raise KernelError(f"{path.name}: the kernel is cut off or damaged ({error})") from None
    if not segments:
        raise KernelError(f"{path.name}: holds no Chebyshev position segments in J2000")
    return segments


def _summaries(content: mmap.mmap) -> Iterator[tuple[float, float, int, int, int, int, int, int]]:
    (record,) = struct.unpack_from("<i", content, 76)
    for _ in range(len(content) // _RECORD_BYTES):
        if record <= 0:
            return
        at = (record - 1) * _RECORD_BYTES
        following, _, count = struct.unpack_from("<3d", content, at)
        for k in range(int(count)):
            yield _SUMMARY.unpack_from(content, at + 24 + k * _SUMMARY.size)
        record = int(following)


def _segment(
    words: Vector,
    first: float,
    last: float,
    target: int,
    center: int,
    _frame: int,
    _type: int,
    begin: int,
    end: int,
) -> Segment:
    start, length, size, count = words[end - 4 : end].tolist()
    shape = (int(count), int(size))
    records = words[begin - 1 : begin - 1 + shape[0] * shape[1]].reshape(shape)
    return Segment(target, center, first, last, start, length, records)
