"""Finding the artifact of a recorded score by its digest, or else its program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark import provenance
from benchmark.artifact import Artifact, ArtifactError
from benchmark.task import Task
from benchmark.verification.checks import Check
from benchmark.verification.store import read_kept


@dataclass(frozen=True)
class Places:
    """Where programs and artifacts of a result may lie: files named by the user, folders."""

    programs: Sequence[Path] = ()
    artifacts: Sequence[Path] = ()
    folder: Path | None = None
    """Beside what lies here, and in its ``artifacts/``, files are looked for as well."""


@dataclass
class Material:
    """What was found of a record's material, and what speaks against it."""

    program: Path | None = None
    artifact: Artifact | None = None
    checks: list[Check] = field(default_factory=list)


def find_material(record: Mapping[str, Any], task: Task, places: Places) -> Material:
    """The artifact if it is anywhere, else the program."""
    found = Material()
    wanted = record.get("artifact_sha256")
    # Kept is the artifact of one repeat, of two stages the report's: neither tells everything.
    partial = len(record.get("repeats") or ()) > 1 or (
        record["stage"] == "both" and record.get("program") is not None
    )
    if wanted is not None and not partial:
        _find_artifact(str(wanted), record, places, found)
    if found.artifact is not None:
        return found
    if record.get("program") is None:
        if not found.checks:
            found.checks.append(
                Check(
                    "artifact",
                    "missing",
                    "the artifact is not here: name its file with --artifact FILE",
                    recorded=wanted,
                )
            )
        return found
    _find_program(record, task, places, found)
    return found


def _find_artifact(wanted: str, record: Mapping[str, Any], places: Places, found: Material) -> None:
    facts, changed = record.get("facts") or {}, list[Check]()
    for path, named_by_digest in _artifact_places(wanted, places):
        try:
            artifact = read_kept(path, facts)
            digest = artifact.digest()
        except (ArtifactError, OSError) as error:
            if named_by_digest:
                changed.append(Check("artifact", "differs", f"{path} is damaged: {error}", wanted))
            continue
        if digest == wanted:
            found.artifact = artifact
            found.checks.append(Check("artifact", "same"))
            return
        if named_by_digest or (record.get("program") is None and len(places.artifacts) == 1):
            message = f"the artifact in {path} has changed"
            changed.append(Check("artifact", "differs", message, wanted, digest))
    found.checks += changed


def _artifact_places(wanted: str, places: Places) -> Iterator[tuple[Path, bool]]:
    """Files that may hold the artifact, and whether their name says that they do."""
    for path in places.artifacts:
        yield path, path.stem == wanted
    if places.folder is not None:
        for folder in (places.folder / "artifacts", places.folder):
            path = folder / f"{wanted}.json"
            if path.is_file():
                yield path, True


def _find_program(record: Mapping[str, Any], task: Task, places: Places, found: Material) -> None:
    wanted, changed = record.get("program_sha256"), None
    for path, is_it in _program_places(str(record["program"]), task, places):
        try:
            digest = provenance.sha256_file(path)
        except OSError:
            continue
        if digest == wanted:
            found.program = path
            found.checks.append(Check("program", "same"))
            found.checks.append(
                Check("artifact", "note", "not stored: the program is evaluated again")
            )
            return
        if is_it and changed is None:
            message = f"the program in {path} has changed since it was scored"
            changed = Check("program", "differs", message, wanted, digest)
    message = f"the program {record['program']} is not here: name its file with --program FILE"
    found.checks.append(changed or Check("program", "missing", message, recorded=wanted))


def _program_places(recorded: str, task: Task, places: Places) -> Iterator[tuple[Path, bool]]:
    """Files that may be the program, and whether a changed one is to be told of."""
    yield from ((path, len(places.programs) == 1) for path in places.programs)
    yield Path(recorded), True
    if places.folder is not None:
        yield places.folder / recorded, True
        yield places.folder / Path(recorded).name, False
    yield task.initial_program, False
