"""What a run may spend, and what it has spent."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Budget:
    """Limits of one run (``None``: none). Money in US dollars, time in seconds.

    When one is ``reached`` the iteration in progress is finished, then the run stops (exit 0).
    Calls of unknown cost cannot be charged; they are counted in ``unpriced``.
    """

    max_cost_usd: float | None = None
    max_tokens: int | None = None
    max_wall_s: float | None = None
    max_searches: int | None = None
    clock: Callable[[], float] = time.monotonic
    cost_usd: float = 0.0
    tokens: int = 0
    searches: int = 0
    unpriced: int = 0
    reached: str | None = None
    """The limit that was reached, in words."""
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def spend(self, cost_usd: float | None, tokens: int, searches: int = 0) -> None:
        """Add what one call cost."""
        if cost_usd is None:
            self.unpriced += 1
        else:
            self.cost_usd += cost_usd
        self.tokens += tokens
        self.searches += searches

    def check(self) -> None:
        """Note which limit is reached, before a call is made. Never interrupts an iteration."""
        used = self.clock() - self.started
        limits = (
            (self.max_cost_usd, self.cost_usd, "cost of {} USD"),
            (self.max_tokens, self.tokens, "{} tokens"),
            (self.max_wall_s, used, "{} s"),
            (self.max_searches, self.searches, "{} searches"),
        )
        for limit, value, words in limits:
            if limit is not None and value >= limit:
                self.reached = words.format(limit)
                return
