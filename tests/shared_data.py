"""The folder of parity vectors and data files that lies beside the repository, where it is there.

``EVODUET_SHARED`` names it; then everything in it must be found. Without the variable the folder
``shared`` beside the repository is used, and tests that need it are skipped when it is missing.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _pytest.mark.structures import ParameterSet

from benchmark.catalogue import find_task
from benchmark.evaluation import choose_variant, load_evaluator
from benchmark.evaluator import Evaluator, Setup
from benchmark.sandbox.inside import wire

REPOSITORY = Path(__file__).resolve().parents[1]
_NUMBERS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def shared_root() -> Path | None:
    """The shared folder, or ``None``. Raises when ``EVODUET_SHARED`` names a missing one."""
    named = os.environ.get("EVODUET_SHARED")
    root = Path(named) if named else REPOSITORY.parent / "shared"
    if (root / "parity").is_dir():
        return root
    if named:
        raise FileNotFoundError(f"EVODUET_SHARED={named}: no folder parity in it")
    return None


def require_shared() -> Path:
    """The shared folder; skips the test when there is none."""
    root = shared_root()
    if root is None:
        pytest.skip("no shared folder beside the repository and EVODUET_SHARED is not set")
    return root


def parity_files(folder: str, pattern: str = "*.json") -> list[ParameterSet]:
    """Parameters for one test: the files of ``parity/<folder>``, or one skipped stand-in."""
    root = shared_root()
    if root is None:
        reason = f"no shared folder (EVODUET_SHARED): parity cases of {folder} not run"
        return [pytest.param(None, id="parity", marks=pytest.mark.skip(reason=reason))]
    files = sorted((root / "parity" / folder).glob(pattern))
    if not files:
        raise FileNotFoundError(f"{root / 'parity' / folder}: no files {pattern}")
    return [pytest.param(path, id=path.stem) for path in files]


def read_case(path: Path, *, numbers: bool = True) -> Any:
    """A JSON file of vectors; the names of non-finite floats become floats if ``numbers``."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return restore_numbers(content) if numbers else content


def restore_numbers(value: Any) -> Any:
    """Replace the texts NaN, Infinity and -Infinity by floats."""
    if isinstance(value, str):
        return _NUMBERS.get(value, value)
    if isinstance(value, list):
        return [restore_numbers(item) for item in value]
    if isinstance(value, dict):
        return {key: restore_numbers(item) for key, item in value.items()}
    return value


def typed_value(node: Any) -> Any:
    """Build what a candidate returned from its typed description in a mathematics vector."""
    if not isinstance(node, dict):
        return node
    if "file" in node:
        return _file_value(node["file"])
    data = node["data"]
    builders: dict[str, Any] = {
        "list": list,
        "tuple": tuple,
        "list_np64": lambda items: [np.float64(item) for item in items],
        "list_np32": lambda items: [np.float32(item) for item in items],
        "ndarray": _array,
    }
    return builders[node["type"]](data)


def _array(data: Any) -> Any:
    try:
        return np.array(data)
    except ValueError:  # ragged: numpy makes arrays of objects only when told to
        return np.array(data, dtype=object)


def _file_value(reference: str) -> Any:
    name, _, key = reference.partition(":")
    path = require_shared() / name
    if path.suffix == ".npz":
        with np.load(path) as archive:
            return archive[key].tolist()
    return json.loads(path.read_text())


def through_the_wire(value: Any) -> Any:
    """A returned value as it arrives from a candidate's process."""
    return wire.unpack(wire.pack(value))


def evaluator_for(task: str, **options: str) -> Evaluator:
    """A task's evaluator with its default variant."""
    found = find_task(task)
    return load_evaluator(Setup(found, choose_variant(found, None), found.options(options)))
