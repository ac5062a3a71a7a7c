"""Random streams for packages that draw from the global one.

Both packages seed and use :mod:`random` itself, so creating a second database would reset
everybody's stream. A :class:`Stream` lends the global generator a state of its own for the time of
a call and takes it back afterwards.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from contextlib import contextmanager


class Stream:
    """The state of one generator. ``name`` is its whole seed, for example ``42:scaffold``."""

    def __init__(self, name: str) -> None:
        self._state = random.Random(name).getstate()

    @contextmanager
    def as_global(self) -> Iterator[None]:
        """Inside, functions of :mod:`random` draw from this stream; do not await here."""
        others = random.getstate()
        random.setstate(self._state)
        try:
            yield
        finally:
            self._state = random.getstate()
            random.setstate(others)

    def digest(self) -> str:
        """Hash of where the stream stands."""
        return hashlib.sha256(repr(self._state).encode()).hexdigest()
