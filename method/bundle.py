"""A run as one file that another machine can verify: `evoduet bundle`.

It holds the journal, the programs, prompts and answers beside it, the artifacts that were kept, the
projections made afresh, and the environment. The bodies of third-party pages are left out unless
asked for: the journal names them by their hash, so its chain stays whole, and a prompt that quotes
them is stored with the quotations replaced (:mod:`method.redaction`). ``manifest.json`` lists both.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark import provenance
from benchmark.catalogue import find_task
from benchmark.task import SUFFIXES
from benchmark.verification.store import FOLDER as ARTIFACT_FOLDER
from method.archive import ArchiveProblem, suffix_of, unpack, write_archive
from method.documents import read_documents
from method.journal import FILE_NAME, Blobs, read_journal
from method.redaction import Pages
from method.references import References, references
from method.runs import best_program, manifest_config, summarise
from method.trace import read_trace

FORMAT = "evoduet.bundle/1"
BLOBS = "blobs"
REDACTED = "redacted"


@dataclass(frozen=True)
class Bundled:
    """What was written; ``left_out``: pages whose text is not in it, and texts that quoted them."""

    path: Path
    sha256: str
    members: int
    pages: int
    left_out: int
    redacted_texts: int


@dataclass(frozen=True)
class Unbundled:
    """An unpacked bundle: a run's folder, and the blobs that are not whole in it."""

    folder: Path
    manifest: Mapping[str, Any]
    left_out: frozenset[str]


def bundle(run: Path, out: Path, *, with_pages: bool = False) -> Bundled:
    """Write a run to ``out`` (``.tar.zst`` or ``.tar.gz``), whole or not at all.

    The same run gives the same bytes wherever it lies, in the same environment. Raises
    :class:`~method.journal.JournalError` for a damaged run, :class:`~method.archive.ArchiveProblem`
    for a name or library that does not serve, ``OSError`` when it cannot be written.
    """
    suffix_of(out)
    events = read_journal(run)
    named = references(events)
    summary = summarise(run)
    summary |= {"run": summary["run_id"], "out": summary["run_id"]}
    members: dict[str, bytes | Path] = {
        FILE_NAME: _whole_lines(run / FILE_NAME),
        "summary.json": _json(summary),
        "trace.jsonl": _lines(read_trace(run)),
        "documents.jsonl": _lines(read_documents(run)),
        "environment.json": _json(environment()),
        "requirements.lock": _requirements(),
        **_best(run, summary),
        **{
            f"{ARTIFACT_FOLDER}/{path.name}": path
            for path in sorted((run / ARTIFACT_FOLDER).glob("*.json"))
        },
    }
    texts, redactions = _texts(Blobs(run), named, with_pages)
    members |= texts
    about = {
        "format": FORMAT,
        "run_id": summary["run_id"],
        "task": summary["task"],
        "status": summary["status"],
        "with_pages": with_pages,
        "redactions": redactions,
    }
    sha256 = write_archive(out, members, about)
    return Bundled(
        out,
        sha256,
        len(members) + 1,
        len(named.pages),
        len(redactions["pages"]),
        len(redactions["texts"]),
    )


def open_bundle(path: Path, folder: Path) -> Unbundled:
    """Unpack a bundle into an empty folder, trusting nothing in it.

    Raises :class:`~method.archive.ArchiveProblem` or ``OSError``.
    """
    manifest = unpack(path, folder)
    try:
        known = manifest["format"] == FORMAT
        rows = [*manifest["redactions"]["pages"], *manifest["redactions"]["texts"]]
        left_out = frozenset(str(row["sha256"]) for row in rows)
    except (KeyError, TypeError) as error:
        raise ArchiveProblem(f"{path}: no bundle of a run ({error} missing)") from None
    if not known:
        raise ArchiveProblem(f"{path}: has format {manifest['format']!r}, this reads {FORMAT}")
    return Unbundled(folder, manifest, left_out)


def environment() -> dict[str, Any]:
    """Interpreter, machine, compilers and every installed library, without names of hosts."""
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": f"{platform.system()} {platform.machine()} {'-'.join(platform.libc_ver())}",
        "machine": provenance.machine(),
        "packages": provenance.installed(),
    }


def _requirements() -> bytes:
    pairs = provenance.installed().items()
    return "".join(f"{name}=={version}\n" for name, version in pairs).encode()


def _best(run: Path, summary: Mapping[str, Any]) -> dict[str, bytes]:
    if summary["best"]["search_score"] is None:
        return {}
    code, _ = best_program(run)
    suffix = SUFFIXES[find_task(manifest_config(run).task).declared.language]
    return {f"programs/best{suffix}": code.encode("utf-8", errors="surrogatepass")}


def _texts(
    blobs: Blobs, named: References, with_pages: bool
) -> tuple[dict[str, bytes | Path], dict[str, list[dict[str, Any]]]]:
    """Members for all blobs, and what was left out of them."""
    members: dict[str, bytes | Path] = {}
    left_out: dict[str, list[dict[str, Any]]] = {"pages": [], "texts": []}
    pages = {name: blobs.get(name) for name in named.pages}
    index = None if with_pages else Pages(pages.values())
    for name in named.all:
        text = pages[name] if name in pages else blobs.get(name)
        if name in named.programs or index is None:
            members[_place(BLOBS, name)] = _encoded(text)
        elif name in pages:
            told = {"sha256": name, "characters": len(text), "source": named.pages[name]}
            left_out["pages"].append(told)
        else:
            redact = index.redact_prompt if name in named.prompts else index.redact
            shown, count = redact(text)
            if count:
                left_out["texts"].append({"sha256": name, "characters_left_out": count})
            members[_place(REDACTED if count else BLOBS, name)] = _encoded(shown)
    for rows in left_out.values():
        rows.sort(key=lambda row: str(row["sha256"]))
    return members, left_out


def _place(folder: str, name: str) -> str:
    return f"{folder}/{name[:2]}/{name}"


def _whole_lines(path: Path) -> bytes:
    """A journal without the line that a crash may have torn, or that is just being written."""
    content = path.read_bytes()
    return content[: content.rfind(b"\n") + 1]


def _json(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()


def _lines(records: list[dict[str, Any]]) -> bytes:
    rows = (json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records)
    return _encoded("".join(rows))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogatepass")
