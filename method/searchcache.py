"""``search.db``: the search database as an SQLite file, for people and tools.

It can be thrown away at any time: :meth:`SearchCache.rebuild` writes it again from the database
that a run folded from its journal. So it is written without waiting for the disk.
"""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from method.identity import body_sha256
from method.searchdb import Record, SearchDatabase, Version

FILE_NAME = "search.db"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS documents (
    db_id TEXT PRIMARY KEY, url TEXT, provider_id TEXT, first_t INTEGER, latest_t INTEGER);
CREATE TABLE IF NOT EXISTS document_versions (
    db_id TEXT, version INTEGER, iteration INTEGER, doc_id TEXT, url TEXT, title TEXT, query TEXT,
    snippet TEXT, raw TEXT, body_sha256 TEXT, PRIMARY KEY (db_id, version));
CREATE TABLE IF NOT EXISTS records (
    record_id TEXT PRIMARY KEY, iteration INTEGER, operation TEXT, queries TEXT, parent_id TEXT,
    parent_score REAL, child_id TEXT, child_score REAL, difference REAL, feedback TEXT, time TEXT);
CREATE TABLE IF NOT EXISTS record_documents (
    record_id TEXT, rank INTEGER, db_id TEXT, predicted REAL, body_sha256 TEXT, first_t INTEGER,
    latest_t INTEGER, PRIMARY KEY (record_id, rank));
"""
_TABLES = ("documents", "document_versions", "records", "record_documents")


class SearchCache:
    """Writer of one run's ``search.db``; use as a context manager.

    Raises ``OSError`` when the file cannot be written. One that a crash or a full disk has torn is
    begun anew.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        with self._writing():
            try:
                self._connection = self._opened()
            except sqlite3.DatabaseError:
                for suffix in ("", "-wal", "-shm"):
                    self.path.with_name(FILE_NAME + suffix).unlink(missing_ok=True)
                self._connection = self._opened()

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=OFF")
            connection.executescript(_SCHEMA)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """What SQLite says of a disk, as an ``OSError`` that names the file."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise OSError(errno.EIO, str(error), str(self.path)) from error

    def rebuild(self, database: SearchDatabase) -> None:
        """Write the whole database anew."""
        with self._writing(), self._connection:
            for table in _TABLES:
                self._connection.execute(f"DELETE FROM {table}")
            for record in database.records:
                self._put(database, record)

    def put(self, database: SearchDatabase, record: Record) -> None:
        """Write a record, new or with its outcome filled in, and the documents it gave."""
        with self._writing(), self._connection:
            self._put(database, record)

    def _put(self, database: SearchDatabase, record: Record) -> None:
        outcome = record.outcome
        self._insert(
            "records",
            record.record_id,
            record.iteration,
            record.operation,
            "\n".join(f"{r}\t{_line(text)}" for r, text in record.queries),
            record.parent_id,
            record.parent_score,
            outcome.child_id if outcome else None,
            outcome.child_score if outcome else None,
            record.difference,
            outcome.feedback if outcome else None,
            record.time,
        )
        for rank, credited in enumerate(record.documents, start=1):
            self._insert(
                "record_documents",
                record.record_id,
                rank,
                credited.db_id,
                credited.predicted,
                body_sha256(credited.document.body),
                credited.first_t,
                credited.latest_t,
            )
            self._put_document(credited.db_id, database.versions[credited.db_id])

    def _put_document(self, db_id: str, versions: list[Version]) -> None:
        first, latest = versions[0], versions[-1]
        document = latest.document
        self._insert(
            "documents",
            db_id,
            document.url,
            document.provider_id,
            first.iteration,
            latest.iteration,
        )
        for number, version in enumerate(versions, start=1):
            document = version.document
            self._insert(
                "document_versions",
                db_id,
                number,
                version.iteration,
                document.doc_id,
                document.url,
                document.title,
                document.query,
                document.snippet,
                document.raw,
                body_sha256(document.body),
            )

    def _insert(self, table: str, *row: str | int | float | None) -> None:
        marks = ", ".join("?" * len(row))
        values = [_storable(value) for value in row]
        self._connection.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", values)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> SearchCache:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _line(text: str) -> str:
    return " ".join(text.split())


def _storable(value: str | int | float | None) -> str | int | float | None:
    """SQLite takes no lone surrogates; a page may hold some."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return value
