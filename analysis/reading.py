"""Traces of a study: each is read once, and everything that counts takes its records together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from analysis.behaviour.facts import Facts
from analysis.behaviour.iterations import RunFacts
from analysis.progress import Progress, ProgressFold
from analysis.rows import DataProblem
from analysis.run_curves import Curves
from analysis.runs import Run, Study, run_folders
from analysis.traces import Trace, open_trace

CURVES, BEHAVIOUR = "curves", "behaviour"


class Fold(Protocol):
    """Takes the records of one run."""

    def add(self, record: Mapping[str, Any]) -> None:
        """Take a record. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for a broken one."""


@dataclass(frozen=True)
class Reading:
    """What the traces of a study tell, and what a reader must know about those left out."""

    curves: Curves
    runs: tuple[RunFacts, ...]
    notes: tuple[str, ...]


def read_traces(study: Study) -> Reading:
    """Read every trace below the study's folder, also of runs that are still under way."""
    by_folder = {run.folder: run for run in study.runs}
    progress: list[Progress] = []
    facts: list[RunFacts] = []
    notes: list[str] = []
    for folder in sorted(run_folders(study.folder)):
        run = by_folder.get(folder)
        try:
            _read(folder, run, progress, facts, notes)
        except DataProblem as problem:
            told = f"left out: {problem}" in study.notes
            notes += [] if told else [f"no curves and no behaviour: {problem}"]
    order = {id(run): place for place, run in enumerate(study.runs)}
    progress.sort(key=lambda found: order[id(found.run)])
    facts.sort(key=lambda found: found.key)
    return Reading(Curves(tuple(progress)), tuple(facts), tuple(_named(study, notes)))


def _read(
    folder: Path,
    run: Run | None,
    progress: list[Progress],
    facts: list[RunFacts],
    notes: list[str],
) -> None:
    trace = open_trace(folder)
    behaviour = Facts(trace)
    folds: dict[str, Fold] = {BEHAVIOUR: behaviour}
    curves = ProgressFold(run) if run is not None and run.complete else None
    if curves is not None:
        folds[CURVES] = curves
    broken = feed(trace, folds)
    notes += [f"no {name}: {problem}" for name, problem in broken.items()]
    notes += [f"{folder}: {note}" for note in trace.notes]
    if curves is not None and CURVES not in broken:
        progress.append(curves.result())
    if BEHAVIOUR not in broken:
        found = behaviour.result()
        facts.append(found)
        if not trace.ended:
            notes.append(f"{folder}: under way, its behaviour is counted up to iteration "
                         f"{found.slots} of {trace.iterations or 'unknown'}")  # fmt: skip
        elif run is None:
            notes.append(f"{folder}: its trace is counted all the same, in what needs no more")


def feed(trace: Trace, folds: Mapping[str, Fold]) -> dict[str, str]:
    """Give every record to every fold; problems by the name of the fold, which then gets no more.

    Raises :class:`DataProblem` for what no fold could read.
    """
    broken: dict[str, str] = {}
    for record in trace.iter_records():
        for name, fold in folds.items():
            if name in broken:
                continue
            try:
                fold.add(record)
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                broken[name] = (
                    f"{trace.folder}: iteration {record['t']} of the trace cannot be read "
                    f"({error!r}); write the trace again with `evoduet trace {trace.folder}`"
                )
    return broken


def _named(study: Study, notes: list[str]) -> list[str]:
    """Notes that name a run as the study does, by its place below the folder."""
    return [note.replace(f"{study.folder}/", "", 1) if note.startswith(str(study.folder)) else note
            for note in notes]  # fmt: skip
