"""Reading a recorded run: keys that may be missing, empty or null, and clear words for the rest."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from analysis.rows import DataProblem

GATES = {
    "retrieve": "retrieve",
    "lookup": "look-up",
    "look-up": "look-up",
    "noop": "no-op",
    "no-op": "no-op",
    "unrecorded": "missing",
}
"""Words of the records and of our traces."""


class Node:
    """An object of a record, with its place in the file for complaints.

    A key that is missing, ``null`` or an empty string is unknown: ``None``, or an empty list.
    """

    def __init__(self, fields: Mapping[str, Any], path: Path, place: str = "") -> None:
        self._fields, self._path, self._place = fields, path, place

    def text(self, key: str) -> str | None:
        """A text."""
        value = self._known(key)
        if value is not None and not isinstance(value, str):
            self.wrong(key, value, "a text")
        return value

    def number(self, key: str) -> float | None:
        """A finite number."""
        value = self._known(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.wrong(key, value, "a finite number")
        try:
            found = float(value)
        except OverflowError:
            found = math.inf
        if not math.isfinite(found):
            self.wrong(key, value, "a finite number")
        return found

    def integer(self, key: str, least: int = 0) -> int | None:
        """A whole number, also where it is written with a decimal point."""
        value = self.number(key)
        if value is None:
            return None
        if not value.is_integer() or value < least:
            self.wrong(key, value, f"a whole number from {least}")
        return int(value)

    def flag(self, key: str) -> bool | None:
        """True or false."""
        value = self._known(key)
        if value is not None and not isinstance(value, bool):
            self.wrong(key, value, "true or false")
        return value

    def object(self, key: str) -> Node | None:
        """An object."""
        value = self._known(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.wrong(key, value, "an object")
        return Node(value, self._path, self._at(key))

    def objects(self, key: str) -> list[Node]:
        """A list of objects."""
        found = []
        for number, value in enumerate(self._list(key)):
            if not isinstance(value, dict):
                self.wrong(f"{key}[{number}]", value, "an object")
            found.append(Node(value, self._path, self._at(f"{key}[{number}]")))
        return found

    def texts(self, key: str) -> list[str]:
        """A list of texts; numbers become texts."""
        found = []
        for number, value in enumerate(self._list(key)):
            if isinstance(value, bool) or not isinstance(value, str | int | float):
                self.wrong(f"{key}[{number}]", value, "a text")
            found.append(str(value))
        return found

    def gate(self, key: str = "gate") -> str | None:
        """A gate's decision in our words."""
        value = self.text(key)
        if value is not None and value not in GATES:
            self.wrong(key, value, f"one of {', '.join(GATES)}")
        return None if value is None else GATES[value]

    def require(self, key: str, value: Any) -> Any:
        """A value that must be known."""
        if value is None:
            raise DataProblem(f"{self._path}: {self._at(key)} is missing")
        return value

    def wrong(self, key: str, value: Any, expected: str) -> NoReturn:
        """Complain. Raises :class:`DataProblem`."""
        shown = json.dumps(value, ensure_ascii=False, default=str)
        shown = shown if len(shown) <= 60 else f"{shown[:60]}..."
        raise DataProblem(f"{self._path}: {self._at(key)} is {shown}, expected {expected}")

    def _known(self, key: str) -> Any:
        value = self._fields.get(key)
        return None if isinstance(value, str) and not value.strip() else value

    def _list(self, key: str) -> Sequence[Any]:
        value = self._known(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.wrong(key, value, "a list")
        found: list[Any] = value
        return found

    def _at(self, key: str) -> str:
        return f"{self._place}.{key}" if self._place else key


def read_source(path: Path) -> tuple[Node, str]:
    """The record in a file and the file's sha256. Raises :class:`DataProblem` for other shapes."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise DataProblem(f"{path}: missing; download it from the project page first") from None
    except OSError as error:
        raise DataProblem(f"{path}: cannot be read ({error.strerror})") from None
    try:
        fields = json.loads(content.decode("utf-8-sig"), parse_constant=_no_constant)
    except RecursionError:
        raise DataProblem(f"{path}: nested too deeply for a recorded run") from None
    except ValueError as error:
        raise DataProblem(f"{path}: not JSON ({error})") from None
    if not isinstance(fields, dict):
        raise DataProblem(f"{path}: not a recorded run (no object, but {_kind(fields)})")
    missing = [key for key in ("history", "steps") if key not in fields]
    if missing:
        raise DataProblem(
            f"{path}: not a recorded run (no {' and no '.join(missing)}); expected is a file of "
            "trajectories/, not one of programs/"
        )
    return Node(fields, path), hashlib.sha256(content).hexdigest()


def points_of(source: Node) -> dict[int, Node]:
    """Points of the history by iteration, 0 included. Raises :class:`DataProblem`."""
    history: Node = source.require("history", source.object("history"))
    found: dict[int, Node] = {}
    for point in history.objects("points"):
        t = point.require("iteration", point.integer("iteration"))
        if t in found:
            point.wrong("iteration", t, "every iteration once")
        found[t] = point
    if 0 not in found:
        history.wrong("points", sorted(found), "iterations from 0, the initial program")
    return dict(sorted(found.items()))


def steps_of(source: Node) -> dict[int, Node]:
    """Selected steps by iteration. Raises :class:`DataProblem`."""
    found: dict[int, Node] = {}
    for step in source.objects("steps"):
        t = step.require("iteration", step.integer("iteration", least=1))
        if t in found:
            step.wrong("iteration", t, "every iteration once")
        found[t] = step
    return dict(sorted(found.items()))


def differing(points: Mapping[int, Node]) -> Iterator[str]:
    """What does not fit in the history: a best score that is not the running maximum."""
    best = None
    for t, point in points.items():
        score, told = point.number("candidate_score"), point.number("best_score")
        if score is not None:
            best = score if best is None else max(best, score)
        if told is not None and told != best:
            yield f"iteration {t}: best_score {told!r} is not the running maximum {best!r}"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _kind(value: Any) -> str:
    return "a list" if isinstance(value, list) else "a single value"
