"""The manifest of a run, wherever it stands and however its fields are named.

Own runs have it as the data of their journal's first event. Traces from elsewhere may bring it as
`manifest.json` or inside `summary.json`, flat and by the names of the trace's specification
(``task_id``, ``N``, ``R``, ...) instead of those of our configuration.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.rows import DataProblem

FILE_NAME = "manifest.json"

_NAMES: Mapping[str, tuple[str, ...]] = {
    "task": ("task_id", "task"),
    "candidates": ("N", "n", "candidates"),
    "rounds": ("R", "rounds"),
    "queries": ("J", "queries"),
    "per_query": ("M", "per_query"),
    "retain": ("D", "retain"),
    "iterations": ("T", "iterations"),
    "gate": ("gate", "gate_kind", "gate kind"),
    "gate_p": ("gate_p",),
    "seed": ("seed",),
    "rules": ("rules",),
    "edit": ("edit",),
    "search": ("search",),
    "variant": ("variant",),
}
"""Names of our configuration, and those that stand for them in a manifest without one."""


def read_manifest(folder: Path, summary: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Manifest of a run with everything that is known of its configuration in ``config``.

    Looked for in the journal's first event, in `manifest.json` and in ``summary``; empty when none
    of them tells anything. Raises :class:`DataProblem` for a file that cannot be read.
    """
    stated = (summary or {}).get("manifest")
    found = _journal(folder) or _file(folder) or (stated if isinstance(stated, dict) else {})
    return _normalised(found, summary or {})


def _journal(folder: Path) -> dict[str, Any]:
    path = folder / "journal.jsonl"
    if not path.is_file():
        return {}
    with path.open("rb") as file:
        line = file.readline()
    try:
        event = json.loads(line.decode("utf-8", errors="surrogatepass"))
        if "run_started" not in (event.get(name) for name in ("event", "type", "kind", "name")):
            raise ValueError("it begins with another event")
        held = (event.get(name) for name in ("data", "manifest", "payload"))
        manifest = next((found for found in held if found is not None), event)
        if not isinstance(manifest, dict):
            raise ValueError("its data are no JSON object")
    except (ValueError, AttributeError, RecursionError) as error:
        if (folder / FILE_NAME).is_file():
            return {}
        raise DataProblem(f"{path}: does not begin with run_started ({error})") from None
    return manifest


def _file(folder: Path) -> dict[str, Any]:
    path = folder / FILE_NAME
    if not path.is_file():
        return {}
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataProblem(f"{path}: not JSON ({error})") from None
    if not isinstance(manifest, dict):
        raise DataProblem(f"{path}: not a JSON object")
    return manifest


def _normalised(found: Mapping[str, Any], summary: Mapping[str, Any]) -> dict[str, Any]:
    """``found`` with a ``config`` that holds what stands beside it or in the summary alone."""
    told = found.get("config")
    config: dict[str, Any] = dict(told) if isinstance(told, dict) else {}
    for name, spellings in _NAMES.items():
        if config.get(name) is not None:
            continue
        sources = (config, found, summary)
        values = (source.get(key) for source in sources for key in spellings)
        value = next((_plain(v) for v in values if _plain(v) is not None), None)
        if value is not None:
            config[name] = value
    method = _method(config, found, summary)
    if method:
        config["method"] = method
    result = {**found, "config": config} if config else dict(found)
    if not isinstance(found.get("x0"), str):
        result.pop("x0", None)  # of ours it is the program's hash; elsewhere the anchor
    if isinstance(found.get("model"), dict):
        result["model"] = found["model"].get("name")
    return result


def _plain(value: Any) -> Any:
    """A setting: a word or number; of an object (a gate, say) its kind."""
    if isinstance(value, Mapping):
        value = value.get("kind", value.get("id"))
    return value if isinstance(value, str | int | float) else None


def _method(*sources: Mapping[str, Any]) -> str:
    """`scaffold+retriever`, also where the two stand apart."""
    method, scaffold, retriever = (
        next((str(s[name]) for s in sources if isinstance(s.get(name), str) and s[name]), "")
        for name in ("method", "scaffold", "retriever")
    )
    method = method or retriever
    return f"{scaffold}+{method}" if scaffold and method and "+" not in method else method
