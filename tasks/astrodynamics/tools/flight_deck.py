"""Runs a candidate inside the sandbox the way published programs expect it.

They read the problem through ``problem_config``, find ``problem`` and ``record`` among their
globals when ``run_code`` is called, and may look at an environment variable for the instance.
"""

from __future__ import annotations

import json
import os
import sys
import types
from typing import Any

from orbits.ephemeris import KERNEL_VARIABLE
from problem_config import INSTANCE_VARIABLE, load_problem_for_candidate

PROGRAM = "candidate.py"
ENTRY_POINT = "run_code"
MAX_ENTRIES = 500
MAX_CHARACTERS = 3000


class Record:
    """Notes of a candidate about its search; what goes over the limits is dropped in silence."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}
        self._characters = 0

    def set(self, key: Any, value: Any) -> None:
        """Note a value; the same key again replaces it."""
        self._note(f"set {key}", f"{key}: {value}")

    def event(self, msg: Any) -> None:
        """Note that something happened."""
        self._note(f"event {len(self._lines)}", str(msg))

    def to_string(self) -> str:
        """All notes, one a line, in the order in which they were first made."""
        return "\n".join(self._lines.values())

    def _note(self, key: str, line: str) -> None:
        old = self._lines.get(key)
        entries = len(self._lines) + (old is None)
        characters = self._characters + len(line) - (-1 if old is None else len(old))
        if entries <= MAX_ENTRIES and characters <= MAX_CHARACTERS:
            self._characters = characters
            self._lines[key] = line


def fly(source: str, problem: dict[str, Any], kernel: str) -> dict[str, Any]:
    """Load the program text ``source``, call ``run_code()``, bring back its result and its notes.

    ``kernel`` is the path of the ephemeris. The answer has the keys ``returned`` and
    ``diagnostics``, or no key at all where the program defines no ``run_code``.
    """
    instance = os.path.abspath("instance.json")
    with open(instance, "w", encoding="utf-8") as file:
        json.dump(problem, file)
    os.environ[INSTANCE_VARIABLE] = instance
    os.environ[KERNEL_VARIABLE] = kernel
    module = _load(source)
    run_code = module.__dict__.get(ENTRY_POINT)
    if not callable(run_code):
        return {}
    record = Record()
    module.__dict__.update(problem=load_problem_for_candidate(module.__file__), record=record)
    try:
        returned = run_code()
    except BaseException:
        print(record.to_string(), file=sys.stderr)
        raise
    return {"returned": returned, "diagnostics": record.to_string()}


def _load(source: str) -> types.ModuleType:
    path = os.path.abspath(PROGRAM)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(source)
    module = types.ModuleType("candidate")
    module.__file__ = path
    sys.modules["candidate"] = module
    exec(compile(source, path, "exec"), module.__dict__)
    return module
