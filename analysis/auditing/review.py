"""A person's verdicts on flags: `audit_review.json` beside `audit.json`.

    {"schema": "evoduet.audit_review/1",
     "verdicts": [{"flag": "artifact_reuse", "t": 12, "verdict": "confirmed", "note": "..."}]}

``verdict`` is ``confirmed`` or ``rejected``, ``note`` may be left out. The file is written by hand
and never touched by a command, so that verdicts outlive another audit. Confirming a numeric copy
confirms the artifact reuse that rests on it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from analysis.auditing.findings import ARTIFACT_REUSE, FLAGS, NUMERIC_COPY, Flag
from analysis.rows import DataProblem

SCHEMA = "evoduet.audit_review/1"
FILE_NAME = "audit_review.json"
Verdict = Literal["confirmed", "rejected"]
_VERDICTS = ("confirmed", "rejected")


@dataclass(frozen=True)
class Review:
    """Verdicts by flag and iteration; empty when nobody has looked."""

    verdicts: Mapping[tuple[str, int | None], Verdict]

    def verdict(self, flag: Flag) -> Verdict | None:
        """The verdict on a flag, ``None`` while it is open."""
        found = self.verdicts.get((flag.flag, flag.t))
        if found is None and flag.flag == ARTIFACT_REUSE:
            return self.verdicts.get((NUMERIC_COPY, flag.t))
        return found

    def stale(self, flags: Sequence[Flag]) -> list[tuple[str, int | None]]:
        """Verdicts on flags that the audit does not raise."""
        raised = {(flag.flag, flag.t) for flag in flags}
        return [place for place in self.verdicts if place not in raised]


@dataclass(frozen=True)
class Count:
    """How often a flag was raised, and what became of it."""

    automatic: int
    confirmed: int
    rejected: int

    @property
    def open(self) -> int:
        """Not yet looked at."""
        return self.automatic - self.confirmed - self.rejected


def count(flags: Sequence[Flag], review: Review) -> dict[str, Count]:
    """Counts by flag, in the order of :data:`~analysis.auditing.findings.FLAGS`."""
    found = {}
    for name in FLAGS:
        verdicts = [review.verdict(flag) for flag in flags if flag.flag == name]
        if verdicts:
            found[name] = Count(
                len(verdicts), verdicts.count("confirmed"), verdicts.count("rejected")
            )
    return found


def read_review(folder: Path) -> Review:
    """The verdicts in a run folder. Raises :class:`DataProblem` naming the entry."""
    path = folder / FILE_NAME
    if not path.is_file():
        return Review({})
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA:
            raise DataProblem(f"{path}: schema {content['schema']!r}, expected {SCHEMA!r}")
        entries = list(content["verdicts"])
    except DataProblem:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataProblem(
            f"{path}: not a review ({error!r}); expected are schema and verdicts"
        ) from None
    verdicts: dict[tuple[str, int | None], Verdict] = {}
    for number, entry in enumerate(entries, 1):
        place = _checked(path, number, entry)
        if place in verdicts:
            raise DataProblem(f"{path} verdict {number}: a second one on {place[0]}, t {place[1]}")
        verdicts[place] = entry["verdict"]
    return Review(verdicts)


def _checked(path: Path, number: int, entry: object) -> tuple[str, int | None]:
    if not isinstance(entry, dict) or not {"flag", "t", "verdict"} <= entry.keys():
        raise DataProblem(f"{path} verdict {number}: expected are flag, t and verdict")
    if entry["flag"] not in FLAGS:
        raise DataProblem(f"{path} verdict {number}: no flag {entry['flag']!r}")
    if entry["verdict"] not in _VERDICTS:
        raise DataProblem(
            f"{path} verdict {number}: {entry['verdict']!r}, expected {' or '.join(_VERDICTS)}"
        )
    if entry["t"] is not None and type(entry["t"]) is not int:
        raise DataProblem(f"{path} verdict {number}: t is {entry['t']!r}, expected a number")
    return entry["flag"], entry["t"]
