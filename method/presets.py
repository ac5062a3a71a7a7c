"""Settings of the paper and of the authors' release, by name.

A preset is a few keys of a configuration file. Where presets and single keys meet, the more special
wins: within the file, and within the command line, a key wins over a preset; the whole command line
wins over the file (:func:`layered`).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

AS_RELEASED = "as-released"


@dataclass(frozen=True)
class Preset:
    """Keys of a configuration, and what they are in words."""

    about: str
    settings: Mapping[str, Any]


def _numbers(about: str, **settings: Any) -> Preset:
    return Preset(about, settings)


PRESETS: Mapping[str, Preset] = {
    "N1": _numbers("one candidate an iteration (Tables 5 and 7 to 10)", candidates=1),
    "N8": _numbers("eight candidates, the default", candidates=8),
    "N16": _numbers("sixteen candidates", candidates=16),
    "R1": _numbers("one search round (Table 6a)", rounds=1),
    "R3": _numbers("three search rounds, the default", rounds=3),
    "R5": _numbers("five search rounds (Table 6a)", rounds=5),
    "J1k3": _numbers("one query a round, three documents kept, the default", queries=1, retain=3),
    "J3k3": _numbers("three queries a round, three documents kept (Table 6b)", queries=3, retain=3),
    "J3k5": _numbers("three queries a round, five documents kept (Table 6b)", queries=3, retain=5),
    "J5k3": _numbers("five queries a round, three documents kept (Table 6b)", queries=5, retain=3),
    "knowledge-gate": _numbers("the model decides, the default", gate="knowledge"),
    "random-gate": _numbers("retrieves with probability 0.5 (Table 1b)", gate="random", gate_p=0.5),
    "stagnation-gate": _numbers(
        "retrieves after a tenth of the run without progress (Table 1b)", gate="stagnation"
    ),
    AS_RELEASED: Preset(
        "what the authors' release sends, searches, waits for and evaluates at a time",
        {
            "rules": "official",
            "edit": "diff",
            "search": "tavily",
            "blocklist": False,
            "prices": "paper-gateway",
            "client": {"params": "release"},
            "switches": {"eval.parallel": "as-released"},
            "eval_wall_s": "released",
            "gate_window": "task",
            "gate_p": 0.1,
        },
    ),
}

_RELEASED_TIMEOUTS = (
    Path(__file__).resolve().parents[1] / "results" / "published" / "release_timeouts.csv"
)
_LIMIT_OF_A_CASE = frozenset({"ahc039", "ahc058"})


def released_wall_s(task: str) -> float | None:
    """Seconds after which the release ends an evaluation of a task, where it is comparable.

    ``None`` for tasks that the release does not have, and for the contests: their limit here holds
    for each of the program's inputs.
    """
    with _RELEASED_TIMEOUTS.open(encoding="utf-8", newline="") as file:
        listed = {row["task_id"]: float(row["eval_timeout_s"]) for row in csv.DictReader(file)}
    return None if task in _LIMIT_OF_A_CASE else listed.get(task)


SIMPLE_ITERATIONS = 20


def layered(file: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """One set of keys from those of a file and those of the command line.

    Either may hold ``presets``, a list of names. Raises ``ValueError`` for an unknown preset, or
    for two that set the same key to different values; ``as-released`` is the base of the others.
    """
    names: dict[str, None] = {}
    merged: dict[str, Any] = {}
    for layer in (file, options):
        given = layer.get("presets") or ()
        if isinstance(given, str) or not all(isinstance(name, str) for name in given):
            raise ValueError("presets: must be a list of names")
        names |= dict.fromkeys(given)
        keys = {name: value for name, value in layer.items() if name != "presets"}
        merged = _over(_over(merged, _settings(given)), keys)
    return merged | ({"presets": list(names)} if names else {})


def _settings(names: Iterable[str]) -> dict[str, Any]:
    base: dict[str, Any] = {}
    chosen: dict[str, Any] = {}
    by: dict[str, str] = {}
    for name in names:
        if name not in PRESETS:
            raise ValueError(f"presets: unknown preset {name!r}; known: {', '.join(PRESETS)}")
        if name == AS_RELEASED:
            base = dict(PRESETS[name].settings)
            continue
        for key, value in PRESETS[name].settings.items():
            if chosen.get(key, value) != value:
                raise ValueError(f"presets: {by[key]} and {name} both set {key}; choose one")
            chosen[key], by[key] = value, name
    return _over(base, chosen)


def _over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """``above`` wins; of tables both keep their keys."""
    merged = dict(below)
    for name, value in above.items():
        old = merged.get(name)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[name] = _over(old, value) if both and old is not None else value
    return merged


def released_notes(config: Any, iterations: int) -> tuple[str, ...]:
    """In what a run as released still differs from the release, or treats methods unequally.

    ``config`` is a resolved :class:`~method.config.RunConfig`, ``iterations`` what its task
    declares.
    """
    notes = []
    if config.resolved_rules().eval_parallel == "as-released":
        notes.append(
            f"evaluations at a time: {config.workers}; the release evaluates all candidates of a "
            "searching method at once and one at a time without search, so load differs between "
            "the methods and scores that depend on speed must not be compared"
        )
    if AS_RELEASED not in config.presets:
        return tuple(notes)
    if config.client.params == "release":
        notes.append(
            "o1, o3, o4 and GPT-5 or later get no temperature and top_p (but on OpenRouter): so "
            "does the release; the manifest says what was sent"
        )
    if config.gate == "stagnation":
        notes.append(
            f"the stagnation window is a tenth of the {iterations} iterations that the task "
            "declares, whatever T is"
        )
    if iterations == SIMPLE_ITERATIONS:
        notes.append(
            f"T is {config.iterations}; the paper says 20 for the simple tasks, the one released "
            "configuration of such a task (pressure vessel) 50"
        )
    return (
        *notes,
        f"a failed model call is tried {config.client.retries} more times in one layer; the "
        "release nests two layers, up to 16 attempts",
        "a crashed evaluation is not run a second time; the release runs it twice",
        "population, random streams and prompts are our own implementation of the described ones",
    )
