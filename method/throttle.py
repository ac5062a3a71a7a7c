"""How many requests one provider gets at a time and in a minute."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from method.retrying import Sleep

WINDOW_S = 60.0


@dataclass
class Turn:
    """One request that may be sent; tell it what the answer used."""

    time: float
    tokens: int

    def used(self, tokens: int | None) -> None:
        """Replace the estimate; ``None``: the provider does not say."""
        if tokens is not None:
            self.tokens = tokens


@dataclass
class Throttle:
    """Slots of one provider, and limits over the last minute (``None``: no limit).

    Requests wait in the order in which they come. A request that alone exceeds the token limit is
    sent when nothing else was sent in the last minute.
    """

    slots: int
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    clock: Callable[[], float] = time.monotonic
    sleep: Sleep = asyncio.sleep
    _sent: deque[Turn] = field(default_factory=deque, init=False)
    _loop: asyncio.AbstractEventLoop | None = field(default=None, init=False)
    _free: asyncio.Semaphore = field(init=False)
    _queue: asyncio.Lock = field(init=False)

    @asynccontextmanager
    async def turn(self, estimated_tokens: int = 0) -> AsyncIterator[Turn]:
        """Wait for a slot and for room under the limits."""
        self._bind()
        async with self._free:
            async with self._queue:
                turn = await self._room(estimated_tokens)
            yield turn

    def _bind(self) -> None:
        """Semaphores belong to one event loop; a client may outlive a run's loop."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._free = asyncio.Semaphore(self.slots)
            self._queue = asyncio.Lock()

    async def _room(self, tokens: int) -> Turn:
        while True:
            now = self.clock()
            while self._sent and now - self._sent[0].time >= WINDOW_S:
                self._sent.popleft()
            if not self._sent or self._fits(tokens):
                turn = Turn(now, tokens)
                if self.requests_per_minute is not None or self.tokens_per_minute is not None:
                    self._sent.append(turn)
                return turn
            await self.sleep(max(0.001, self._sent[0].time + WINDOW_S - now))

    def _fits(self, tokens: int) -> bool:
        if self.requests_per_minute is not None and len(self._sent) >= self.requests_per_minute:
            return False
        if self.tokens_per_minute is None:
            return True
        return sum(turn.tokens for turn in self._sent) + tokens <= self.tokens_per_minute
