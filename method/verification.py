"""Verifying a run: its journal, what lies beside it, and the score of its best program."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmark.catalogue import UnknownTask, find_task
from benchmark.harness import Harness
from benchmark.task import Task, TaskError
from benchmark.verification.checks import Check, Verification
from benchmark.verification.tasks import trusted_task
from method.bundle import REDACTED, Unbundled
from method.config import RunConfig
from method.documents import read_documents
from method.journal import FILE_NAME, Event, JournalError, read_journal
from method.ports import Divergence, Incomplete
from method.references import references
from method.runs import replay, summarise
from method.trace import read_trace
from method.verified_scores import check_scores

PLACES = ("run", "out")
"""Fields of a summary that say where the run lies."""

_OTHER_FORM = (KeyError, TypeError, ValueError, IndexError, AttributeError, StopIteration)


def verify_run(folder: Path, harness: Harness, *, report: bool = False) -> Verification:
    """Compare a run with its journal, and its best score with what its program gets here.

    ``report``: also the held-out score, which may take hours. Differences are checks, not
    exceptions; raises ``OSError`` and, where there is no run at all, ``JournalError``.
    """
    if not (folder / FILE_NAME).is_file():
        raise JournalError(f"{folder}: no run there (no {FILE_NAME})")
    return _verification(folder, str(folder), harness, frozenset(), report, find_task)


def verify_bundle(
    opened: Unbundled,
    path: Path,
    harness: Harness,
    *,
    report: bool = False,
    task: Task | None = None,
) -> Verification:
    """The same for an unpacked bundle, whose members were compared with its manifest.

    ``task``: its task, where that is in no installed package.
    """
    return _verification(
        opened.folder,
        str(path),
        harness,
        opened.left_out,
        report,
        lambda reference: trusted_task(reference, task),
    )


def _verification(
    folder: Path,
    subject: str,
    harness: Harness,
    left_out: frozenset[str],
    report: bool,
    find: Callable[[str], Task],
) -> Verification:
    try:
        events = read_journal(folder)
    except JournalError as error:
        return Verification(subject, "", (Check("journal", "differs", str(error)),))
    try:
        manifest = next(event.data for event in events if event.name == "run_started")
        config = RunConfig.model_validate(manifest["config"])
        task = find(config.task)
        references(events), summarise(folder), read_trace(folder)
    except (UnknownTask, TaskError) as error:
        return Verification(subject, "", (Check("task", "missing", str(error)),))
    except _OTHER_FORM as error:
        message = f"the journal does not tell a whole run, or one of another version ({error!r})"
        return Verification(subject, "", (Check("journal", "differs", message),))
    checks = [
        *_check_journal(folder, events),
        *_check_blobs(folder, events, left_out),
        *_check_projections(folder, events, whole=not left_out),
    ]
    checks += check_scores(folder, events, manifest, config, task, harness, report)
    checks += [] if left_out else _check_replay(folder)
    return Verification(subject, config.task, tuple(checks))


# --- journal and blobs ---------------------------------------------------------------------------


def _check_journal(folder: Path, events: list[Event]) -> Iterator[Check]:
    yield Check("journal", "same", f"{len(events)} events, each with the hash of the one before")
    with (folder / FILE_NAME).open("rb") as file:
        lines = file.read().splitlines(keepends=True)
    if not lines[-1].endswith(b"\n"):
        yield Check("journal end", "note", "the last line is torn; `evoduet resume` drops it")
    elif events[-1].name not in ("run_finished", "interrupted"):
        yield Check("journal end", "note", "the run did not end; go on with `evoduet resume`")


def _check_blobs(folder: Path, events: list[Event], left_out: frozenset[str]) -> Iterator[Check]:
    """Every text against its name; those that the journal names are there or told as left out."""
    named = references(events)
    changed, there = [], set[str]()
    for path in sorted((folder / "blobs").glob("??/*")):
        if path.name.startswith("."):  # half-written when a crash came
            continue
        there.add(path.name)
        if hashlib.sha256(path.read_bytes()).hexdigest() != path.name:
            changed.append(path.name)
    for name in changed:
        message = f"the text {name[:12]}... is not what its name says (sha256): it was changed"
        yield Check("blob", "differs", message, recorded=name)
    excused = left_out - named.programs.keys()
    lacking = [name for name in named.all if name not in there and name not in excused]
    for name in lacking:
        message = f"the text {name[:12]}... that the journal names is not there"
        yield Check("blob", "differs", message, recorded=name)
    if not changed and not lacking:
        yield Check("blobs", "same", f"{len(there)} texts")
    if left_out:
        redacted = sum(1 for _ in (folder / REDACTED).glob("??/*"))
        message = (
            f"{len(left_out) - redacted} pages and the quotations of pages in {redacted} other "
            "texts were left out; their hashes are in the manifest"
        )
        yield Check("pages", "note", message)


def _check_projections(folder: Path, events: list[Event], *, whole: bool) -> Iterator[Check]:
    """What was made from the journal, against the journal; documents need the texts of pages.

    They are written when a run finishes, so of a run that goes on they are older than the journal.
    """
    folds: dict[str, Callable[[Path], Any]] = {
        "summary.json": lambda run: _without_places(summarise(run)),
        "trace.jsonl": read_trace,
        **({"documents.jsonl": read_documents} if whole else {}),
    }
    finished = events[-1].name == "run_finished"
    for name, fold in folds.items():
        path = folder / name
        if not path.is_file():
            continue
        told = _without_places(_parsed(path))
        if told == json.loads(json.dumps(fold(folder))):
            yield Check(path.stem, "same")
        elif finished:
            yield Check(path.stem, "differs", f"{name} is not what the journal says")
        else:
            yield Check(path.stem, "note", f"{name} is older than the journal")


def _parsed(path: Path) -> Any:
    """The value of a JSON file, or the values of its lines; ``None`` for what is neither."""
    text = path.read_text(encoding="utf-8", errors="surrogatepass")
    try:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in text.splitlines()]
        return json.loads(text)
    except ValueError:
        return None


def _without_places(summary: Any) -> Any:
    if not isinstance(summary, dict):
        return summary
    return {name: value for name, value in summary.items() if name not in PLACES}


def _check_replay(folder: Path) -> list[Check]:
    try:
        replay(folder)
    except Divergence as error:
        return [Check("replay", "differs", str(error))]
    except (Incomplete, JournalError):
        return [Check("replay", "note", "the run did not finish: not replayed to its end")]
    except (ImportError, RuntimeError, TypeError) as error:  # a library, a field of another version
        return [Check("replay", "note", f"not replayed here: {error}")]
    return [Check("replay", "same")]
