"""What a verification found: checks with outcomes, and the exit code that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Outcome = Literal["same", "differs", "missing", "note"]


@dataclass(frozen=True)
class Check:
    """One thing that was compared. ``message`` tells what to make of another outcome than same."""

    name: str
    outcome: Outcome
    message: str = ""
    recorded: Any = None
    found: Any = None


@dataclass(frozen=True)
class Verification:
    """All checks of one record, run or bundle."""

    subject: str
    task: str
    checks: tuple[Check, ...]

    @property
    def exit_code(self) -> int:
        """0 identical, 1 something differs, 3 something that is needed is not here."""
        outcomes = {check.outcome for check in self.checks}
        return 1 if "differs" in outcomes else 3 if "missing" in outcomes else 0

    def to_json(self) -> dict[str, Any]:
        """As JSON values; ``verdict`` in one word."""
        return {
            "subject": self.subject,
            "task": self.task,
            "verdict": {0: "identical", 1: "differs", 3: "missing"}[self.exit_code],
            "checks": [
                {
                    name: value
                    for name, value in vars(check).items()
                    if value not in (None, "") or name in ("name", "outcome")
                }
                for check in self.checks
            ],
        }


def compared(name: str, recorded: Any, found: Any, message: str) -> Check:
    """``same``, or ``differs`` with a message."""
    if recorded == found:
        return Check(name, "same")
    return Check(name, "differs", message, recorded, found)
