"""Artifacts that are kept beside results: files named by the digest of what they hold.

``<digest>.json`` is an ordinary artifact file (``evoduet score TASK --artifact`` reads it);
``<digest>.facts.json`` holds what the harness measured about it, which scoring may need.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmark.artifact import Artifact, ArtifactError, load, save, to_json

FOLDER = "artifacts"
"""The folder's name, beside a run's journal or a file of results."""
MAX_KEPT_BYTES = 64 * 2**20
"""Larger artifacts are not kept: their program makes them again."""


def keep(artifact: Artifact, folder: Path) -> Path | None:
    """Store an artifact under its digest, once; ``None`` for one that a file cannot hold.

    Raises ``OSError`` (disk full, read-only folder) and leaves no half-written file.
    """
    path = folder / f"{artifact.digest()}.json"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    try:
        save(artifact, path)
    except (ArtifactError, TypeError, ValueError):
        return None
    if path.stat().st_size > MAX_KEPT_BYTES:
        path.unlink()
        return None
    if artifact.facts:
        facts = path.with_suffix(".facts.json")
        partial = facts.with_name(f".{facts.name}.partial")
        try:
            partial.write_text(json.dumps(to_json(dict(artifact.facts)), allow_nan=False) + "\n")
            partial.replace(facts)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            partial.unlink(missing_ok=True)
    return path


def read_kept(path: Path, facts: Mapping[str, Any] | None = None) -> Artifact:
    """An artifact file with its facts: those given, else those kept beside it.

    Raises :class:`~benchmark.artifact.ArtifactError` or ``OSError``.
    """
    artifact = load(path)
    beside = path.with_suffix(".facts.json")
    if not facts and beside.is_file():
        try:
            facts = json.loads(beside.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ArtifactError(f"{beside}: not JSON ({error})") from None
        if not isinstance(facts, dict):
            raise ArtifactError(f"{beside}: need an object of facts")
    return replace(artifact, facts=facts or {})
