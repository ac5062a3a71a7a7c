"""A run's programs as another system keeps them: a checkpoint folder of OpenEvolve.

One way, from the journal alone: the initial program and every child, with scores, lineage and
feedback. What only lived inside a scaffold (cells, copies made by migration) has no counterpart;
programs are spread over the islands in the order in which they were found, as the package does with
programs whose island it does not know. Held-out scores are not exported: the package shows every
metric to its model.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmark.catalogue import find_task
from benchmark.task import SUFFIXES
from method.journal import Blobs, Event, JournalError, read_journal
from method.manifest import manifest_of
from method.summary import chosen

ISLANDS = 5
ARCHIVE = 100
"""The package's own numbers."""


@dataclass(frozen=True)
class Checkpoint:
    """``programs`` are the fields of the package's ``Program``, ``metadata`` its ``metadata.json``.

    ``suffix`` is that of the task's programs.
    """

    programs: tuple[Mapping[str, Any], ...]
    metadata: Mapping[str, Any]
    suffix: str

    @property
    def best(self) -> Mapping[str, Any]:
        """The best program."""
        name = self.metadata["best_program_id"]
        return next(program for program in self.programs if program["id"] == name)


def openevolve_checkpoint(folder: Path) -> Checkpoint:
    """The programs of a run. Raises ``JournalError`` where there is no scored program."""
    events = read_journal(folder)
    manifest, blobs = manifest_of(events), Blobs(folder)
    language = find_task(manifest["config"]["task"]).declared.language
    results = {
        tuple(event.data["key"][:3]): event.data["result"]
        for event in events
        if event.name == "evaluation"
    }
    seed = next((event for event in events if event.name == "seed_evaluated"), None)
    if seed is None:
        raise JournalError(f"{folder}: its initial program has no score yet")
    found: dict[str, dict[str, Any]] = {}

    def enter(event: Event, name: str, t: int, code: str, key: tuple[int, int, int]) -> None:
        found[name] = _program(event, name, t, code, language, results[key])

    enter(seed, seed.data["id"], 0, blobs.get(manifest["x0"]), (0, 0, 0))
    for event in events:
        record = event.data
        if event.name == "iteration_done" and record["child"] is not None:
            candidate = chosen(record)
            key = (record["t"], candidate["attempt"], candidate["slot"])
            name = record["child"]["id"]
            enter(event, name, record["t"], blobs.get(candidate["code_sha256"]), key)
            _descend(found, name, record["parent"]["id"], candidate["diff_summary"])
    return Checkpoint(tuple(found.values()), _metadata(list(found.values())), SUFFIXES[language])


def _program(
    event: Event, name: str, t: int, code: str, language: str, result: Mapping[str, Any]
) -> dict[str, Any]:
    feedback = {"feedback": result["feedback"]} if result["feedback"] else {}
    artifacts = {**feedback, **result["attachments"]}
    others = {key: value for key, value in result["metrics"].items() if key != "combined_score"}
    return {
        "id": name,
        "code": code,
        "changes_description": "",
        "language": language,
        "parent_id": None,
        "generation": 0,
        "timestamp": datetime.fromisoformat(event.time).timestamp() if event.time else 0.0,
        "iteration_found": t,
        "metrics": {"combined_score": result["search_score"], **others},
        "complexity": 0.0,
        "diversity": 0.0,
        "metadata": {},
        "artifacts_json": json.dumps(artifacts) if artifacts else None,
    }


def _descend(found: Mapping[str, dict[str, Any]], name: str, parent_id: str, changes: str) -> None:
    """Lineage of a program; a parent that is a scaffold's copy is only named."""
    program, parent = found[name], found.get(parent_id)
    program["changes_description"] = changes
    program["metadata"] = {"changes": changes, "parent_metrics": {}}
    if parent is None:
        program["metadata"]["copied_parent"] = parent_id
        return
    program["parent_id"] = parent_id
    program["generation"] = parent["generation"] + 1
    program["metadata"]["parent_metrics"] = dict(parent["metrics"])


def _metadata(programs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    islands: list[list[str]] = [[] for _ in range(ISLANDS)]
    scores = {program["id"]: program["metrics"]["combined_score"] for program in programs}
    for number, program in enumerate(programs):
        islands[number % ISLANDS].append(program["id"])
        program["metadata"]["island"] = number % ISLANDS
    ranked = sorted(scores, key=lambda name: -scores[name])
    return {
        "island_feature_maps": [{} for _ in range(ISLANDS)],
        "islands": islands,
        "archive": ranked[:ARCHIVE],
        "best_program_id": ranked[0],
        "island_best_programs": [
            max(island, key=scores.__getitem__, default=None) for island in islands
        ],
        "last_iteration": programs[-1]["iteration_found"],
        "current_island": 0,
        "island_generations": [0] * ISLANDS,
        "last_migration_generation": 0,
        "feature_stats": {},
    }


def write_checkpoint(checkpoint: Checkpoint, out: Path) -> None:
    """Write the folder, which must be new or empty, whole or not at all.

    Raises ``FileExistsError`` when something is there already.
    """
    out = out.absolute()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        reason = "is not empty; name a folder that is new or empty"
        raise FileExistsError(errno.EEXIST, reason, str(out))
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{out.name}.partial-", dir=out.parent))
    try:
        _fill(checkpoint, partial)
        mask = os.umask(0o022)
        os.umask(mask)
        partial.chmod(0o777 & ~mask)  # mkdtemp's own are for the owner alone
        partial.replace(out)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _fill(checkpoint: Checkpoint, folder: Path) -> None:
    (folder / "programs").mkdir()
    for program in checkpoint.programs:
        _write(folder / "programs" / f"{program['id']}.json", json.dumps(program))
    _write(folder / "metadata.json", json.dumps(checkpoint.metadata))
    best = checkpoint.best
    _write(folder / f"best_program{checkpoint.suffix}", best["code"])
    about = {name: best[name] for name in ("id", "generation", "metrics", "language", "parent_id")}
    info = {
        **about,
        "iteration": best["iteration_found"],
        "current_iteration": checkpoint.metadata["last_iteration"],
        "timestamp": best["timestamp"],
    }
    _write(folder / "best_program_info.json", json.dumps(info, indent=1))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
