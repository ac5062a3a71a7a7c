"""Money of a sweep: a cap on the sum of all costs, handed down to the runs as caps of their own."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Purse:
    """``cap_usd`` (``None``: none) bounds what is spent and what running runs may still spend.

    ``spent_usd`` is what ended attempts have cost. Every paid run is handed its share of what is
    left by its weight (how much it may cost at worst, or how often it may call), so that however
    many run at a time the caps of all never exceed the sweep's; what a run leaves goes to those
    that start later. A run finishes the iteration in which it reaches its cap.
    """

    cap_usd: float | None
    spent_usd: float = 0.0
    _reserved: dict[str, float] = field(default_factory=dict)

    @property
    def left_usd(self) -> float:
        """What is neither spent nor handed out; infinite without a cap."""
        if self.cap_usd is None:
            return float("inf")
        return self.cap_usd - self.spent_usd - sum(self._reserved.values())

    def share(self, weight: float, weights: float, own_cap: float | None) -> float | None:
        """The cap of a run that starts, given its weight among all that are to start; 0: none left.

        ``None`` where neither the sweep nor the run has a cap.
        """
        if self.cap_usd is None:
            return own_cap
        part = max(0.0, self.left_usd) * (weight / weights if weights > weight else 1.0)
        return part if own_cap is None else min(part, own_cap)

    def reserve(self, job: str, amount_usd: float | None) -> None:
        """Hand out what a run may still spend."""
        self._reserved[job] = amount_usd or 0.0

    def settle(self, job: str, before_usd: float, after_usd: float | None) -> None:
        """An attempt ended: what it had cost before, and now (``None``: unknown)."""
        self._reserved.pop(job, None)
        if after_usd is not None:
            self.spent_usd += after_usd - before_usd
