"""Results of an audit as plain data, and their form in `audit.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

SCHEMA = "evoduet.audit/1"

METHOD_TRANSFER = "method_transfer"
CROSS_DOMAIN = "cross_domain"
LIVE_DOCUMENTATION = "live_documentation_lookup"
LIVE_DOCUMENTATION_IMPROVED = "live_documentation_lookup_improved"
TARGET_INFORMED = "target_informed_reconstruction"
ARTIFACT_REUSE = "artifact_reuse"
OVER_REACH = "over_reach"
SEARCH_MISS = "search_miss_own_progress"
IDENTIFIER_FIXATION = "identifier_fixation"
COPIED_LINES = "copied_lines"
NUMERIC_COPY = "numeric_copy"
NETWORK_USE = "network_use"
DOCUMENTS_UNUSED = "documents_unused"

FLAGS = (
    METHOD_TRANSFER, TARGET_INFORMED, LIVE_DOCUMENTATION, LIVE_DOCUMENTATION_IMPROVED, CROSS_DOMAIN,
    OVER_REACH, ARTIFACT_REUSE, SEARCH_MISS, IDENTIFIER_FIXATION, NUMERIC_COPY, COPIED_LINES,
    NETWORK_USE, DOCUMENTS_UNUSED,
)  # fmt: skip
"""All flags, in the order of reports."""
_RESTS_ON = {CROSS_DOMAIN: METHOD_TRANSFER}
"""Flags that can be raised only where another one is."""


@dataclass(frozen=True)
class Flag:
    """A behaviour seen in an iteration (of the whole run: ``t`` of its first sign, or ``None``)."""

    flag: str
    t: int | None
    evidence: str


@dataclass(frozen=True)
class AuditedCandidate:
    """What a candidate's program took from elsewhere; ``None`` where that is not decidable.

    ``copied_lines`` are the lines themselves, ``network_calls`` read ``line 3: import requests``.
    """

    t: int
    attempt: int | None
    slot: int | None
    code_sha256: str | None
    numeric_copy: bool | None
    copied_lines: tuple[str, ...] | None
    network_calls: tuple[str, ...] | None


@dataclass(frozen=True)
class Undecidable:
    """What could not be looked at and why; ``t`` is ``None`` for the run as a whole.

    Where it concerns some flags alone, the reason begins with their names and a colon.
    """

    t: int | None
    reason: str

    @classmethod
    def about(cls, flags: Sequence[str], t: int | None, why: str) -> Undecidable:
        """What these flags need and is not there."""
        return cls(t, f"{', '.join(flags)}: {why}")

    @property
    def concerns(self) -> tuple[str, ...]:
        """The flags that are open because of it."""
        names = tuple(self.reason.partition(":")[0].split(", "))
        return names if set(names) <= set(FLAGS) else FLAGS


@dataclass(frozen=True)
class Audit:
    """All findings about one run."""

    run_id: str
    trace_sha256: str | None
    candidates: tuple[AuditedCandidate, ...]
    flags: tuple[Flag, ...]
    undecidable: tuple[Undecidable, ...]

    def to_json(self) -> dict[str, Any]:
        """The object of `audit.json`."""
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Audit:
        """Read the object back. Raises ``KeyError``, ``TypeError`` or ``ValueError``."""
        if data["schema"] != SCHEMA:
            raise ValueError(f"schema {data['schema']!r}, expected {SCHEMA!r}")
        candidates = [
            {
                **row,
                "copied_lines": _tuple(row["copied_lines"]),
                "network_calls": _tuple(row["network_calls"]),
            }
            for row in data["candidates"]
        ]
        return cls(
            run_id=data["run_id"],
            trace_sha256=data["trace_sha256"],
            candidates=tuple(AuditedCandidate(**row) for row in candidates),
            flags=tuple(Flag(**row) for row in data["flags"]),
            undecidable=tuple(Undecidable(**row) for row in data["undecidable"]),
        )

    def undecided(self, flag: str) -> bool:
        """Whether the run might have the flag although none was raised."""
        needed = {flag, _RESTS_ON.get(flag, flag)}
        return any(not needed.isdisjoint(row.concerns) for row in self.undecidable)


def _tuple(values: list[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)
