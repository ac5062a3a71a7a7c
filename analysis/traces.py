"""Run folders as the analysis reads them: the one tolerant reader.

:func:`open_trace` gives a :class:`Trace`: manifest and summary at once, records line by line, and
documents, page texts and programs when they are asked for. Nothing is ever written and the method
is not needed, but for runs that have a journal and no `trace.jsonl`.

* A torn last line is what a growing trace has: it is dropped and `Trace.notes` says so.
* Anything else that is broken is a :class:`DataProblem` naming file and line, and so is a trace
  without a record.
* Fields that a record does not have are completed (:mod:`analysis.trace_fields`).
* A blob that is missing or altered is ``None``: what needs it is not decidable, never zero.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from analysis.manifest import read_manifest
from analysis.rows import DataProblem
from analysis.runs import is_over, method_of, status_of, task_id_of
from analysis.trace_documents import Document, document, documents_of
from analysis.trace_fields import completed
from benchmark.catalogue import UnknownTask, find_task
from benchmark.task import Task

SCHEMA = "evoduet.trace/1"
TRACE, DOCUMENTS = "trace.jsonl", "documents.jsonl"
_LONGEST_TEXT = 64 * 2**20
"""Bytes of a packed blob: what unpacks to more is no text of a run."""
_ZSTD = b"\x28\xb5\x2f\xfd"


@dataclass
class Trace:
    """A run folder. ``summary`` is empty for a run that never stopped by itself."""

    folder: Path
    run_id: str
    manifest: Mapping[str, Any]
    summary: Mapping[str, Any]
    notes: list[str] = field(default_factory=list)
    """What a reader of the results must know; grows while records and blobs are read."""

    @property
    def path(self) -> Path:
        """The file of records."""
        return self.folder / TRACE

    @property
    def config(self) -> Mapping[str, Any]:
        """Configuration in the manifest; empty for traces from elsewhere."""
        found: Mapping[str, Any] = self.manifest.get("config") or {}
        return found

    @property
    def task_id(self) -> str:
        """Task as it was given (`domain/name` or the name); empty when nothing tells."""
        try:
            return task_id_of(self.summary, self.config)
        except KeyError:
            return ""

    @cached_property
    def task(self) -> Task:
        """The task. Raises :class:`DataProblem` when the catalogue does not have it."""
        try:
            return find_task(self.task_id)
        except UnknownTask as error:
            raise DataProblem(f"{self.folder}: {error}") from None

    @property
    def method(self) -> str:
        """`scaffold+retriever`."""
        return method_of(self.summary, self.config)

    @property
    def retriever(self) -> str:
        """`evoduet`, `joint`, `sequential`, `oracle` or `none`; empty when nothing tells."""
        name = self.method.rpartition("+")[2]
        return "evoduet" if name.lower() == "evoduet" else name

    @property
    def model(self) -> str:
        """Name of the model; empty when nothing tells."""
        sources = (self.summary, self.manifest, self.config)
        return next((str(s["model"]) for s in sources if s.get("model")), "")

    @property
    def candidates(self) -> int | None:
        """N, candidates of an iteration with documents."""
        return _whole(self.config.get("candidates"))

    @property
    def iterations(self) -> int | None:
        """T, the iterations that were scheduled."""
        return _whole(self.summary.get("T") or self.config.get("iterations"))

    @property
    def ended(self) -> bool:
        """Whether the run stopped for good: slots without a record then stay without."""
        return is_over(status_of(self.summary))

    @property
    def trace_sha256(self) -> str | None:
        """Hash of `trace.jsonl` as it is now, ``None`` without the file."""
        if not self.path.is_file():
            return None
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def iter_records(self) -> Iterator[dict[str, Any]]:
        """Records in the order of the file, one for each iteration that closed.

        Without `trace.jsonl` the journal is folded. Raises :class:`DataProblem`, also when there is
        no record at all or one iteration has two.
        """
        seen: set[int] = set()
        for place, record in self._records():
            t = record["t"]
            if t in seen:
                raise self._broken(place, f"a second record of iteration {t}")
            seen.add(t)
            yield record
        if not seen:
            raise DataProblem(f"{self.path}: the trace is empty, no iteration has closed yet")

    def _records(self) -> Iterator[tuple[int, dict[str, Any]]]:
        if not self.path.is_file():
            for place, folded in enumerate(_from_journal(self.folder), 1):
                yield place, self._checked(place, folded)
            return
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                record = _object(line)
                if not line.strip():
                    continue
                if record is None and not line.endswith(b"\n"):
                    self._note("the last line of its trace is torn (still growing?) and is dropped")
                    return
                yield number, self._checked(number, record)

    def _checked(self, number: int, record: dict[str, Any] | None) -> dict[str, Any]:
        if record is None or not record:
            raise self._broken(number, "not a trace record")
        if record.get("schema", SCHEMA) != SCHEMA:
            raise self._broken(number, f"schema {record['schema']!r}, expected {SCHEMA!r}")
        if type(record.get("t")) is not int or record["t"] < 1:
            raise self._broken(number, f"t is {record.get('t')!r}, expected 1, 2, ...")
        try:
            return completed(record)
        except (TypeError, AttributeError, ValueError, KeyError) as error:
            what = f"iteration {record['t']} cannot be read ({error!r})"
            raise self._broken(number, what) from None

    def _broken(self, line: int, what: str) -> DataProblem:
        again = ""
        if (self.folder / "journal.jsonl").is_file():
            again = f"; write the trace again with `evoduet trace {self.folder}`"
        return DataProblem(f"{self.path} line {line}: {what}{again}")

    def _note(self, what: str) -> None:
        if what not in self.notes:
            self.notes.append(what)

    @cached_property
    def documents(self) -> Mapping[str, Document]:
        """Documents by ``doc_id``: from `documents.jsonl` or, where that is absent, the records."""
        return self.listed_documents or documents_of(self.iter_records())

    @cached_property
    def listed_documents(self) -> Mapping[str, Document]:
        """Those of `documents.jsonl`; empty where that is absent."""
        path = self.folder / DOCUMENTS
        return self._listed(path) if path.is_file() else {}

    def _listed(self, path: Path) -> dict[str, Document]:
        found: dict[str, Document] = {}
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                row = _object(line)
                if row is None and not line.endswith(b"\n"):
                    self._note(f"the last line of its {DOCUMENTS} is torn and is dropped")
                    break
                if row is None or not row.get("doc_id"):
                    raise DataProblem(f"{path} line {number}: not a document")
                found[row["doc_id"]] = document(row)
        return found

    def blob(self, sha256: str | None) -> str | None:
        """A stored text by its hash; ``None`` when it is missing, altered or cannot be unpacked."""
        if not sha256:
            return None
        if not self._stores_blobs:
            return None
        place = f"{self.folder}/blobs/{sha256[:2]}/{sha256}"
        for path in (place, f"{place}.zst"):
            try:
                with open(path, "rb") as file:
                    content = file.read()
            except OSError:
                continue
            if hashlib.sha256(content).hexdigest() != sha256:
                content = self._unpacked(content)
                if hashlib.sha256(content).hexdigest() != sha256:
                    self._note("blobs that are altered or cannot be unpacked count as missing")
                    continue
            return content.decode("utf-8", errors="surrogatepass")
        return None

    @cached_property
    def _stores_blobs(self) -> bool:
        return (self.folder / "blobs").is_dir()

    def _unpacked(self, content: bytes) -> bytes:
        """Content of a zstd file; as it is when it is none."""
        if not content.startswith(_ZSTD):
            return content
        try:
            import zstandard
        except ImportError:
            self._note("its blobs are packed: `pip install zstandard` to read them")
            return content
        try:
            with zstandard.ZstdDecompressor().stream_reader(content) as packed:
                found = bytes(packed.read(_LONGEST_TEXT + 1))
        except zstandard.ZstdError:
            return content
        return found if len(found) <= _LONGEST_TEXT else content


def open_trace(folder: Path) -> Trace:
    """The run in a folder. Raises :class:`DataProblem` when there is none or it is damaged."""
    if not (folder / TRACE).is_file() and not (folder / "journal.jsonl").is_file():
        raise DataProblem(f"{folder}: no run there (no {TRACE} and no journal.jsonl)")
    summary = _summary(folder)
    manifest = read_manifest(folder, summary)
    run_id = summary.get("run_id") or manifest.get("run_id") or folder.name
    return Trace(folder, str(run_id), manifest, summary)


def _summary(folder: Path) -> dict[str, Any]:
    path = folder / "summary.json"
    if not path.is_file():
        return {}
    found = _object(path.read_bytes())
    if found is None:
        raise DataProblem(f"{path}: not a JSON object; it is written when a run stops")
    return found


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_JSON = json.JSONDecoder(parse_constant=_refuse)
"""Traces hold no NaN and no infinity."""


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = _JSON.decode(line.decode("utf-8", errors="surrogatepass"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _from_journal(folder: Path) -> list[dict[str, Any]]:
    from method.trace import read_trace

    try:
        return read_trace(folder)
    except RuntimeError as error:  # JournalError: analysis knows of method the trace alone
        raise DataProblem(str(error)) from None
