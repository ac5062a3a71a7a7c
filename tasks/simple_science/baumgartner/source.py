"""Converters: the emulator's public files to the two files that the evaluator reads.

The network files are what torch writes, zip archives of raw storages beside a pickle. The pickle is
never read: that it is the known one fixes names, shapes and order of the storages.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

PICKLE_SHA256 = "2d87f3ce15dc0f09daffb56c1db24e703c2109ba02d264eb6d5cae5d8b1bac0c"
MEMBER_BYTES = {
    "archive/data.pkl": 527,
    "archive/data/0": 20480,
    "archive/data/1": 2048,
    "archive/data/2": 2048,
    "archive/data/3": 4,
    "archive/version": 2,
}
TENSORS: dict[str, tuple[int, ...]] = {"w1": (512, 10), "b1": (512,), "w2": (512,), "b2": ()}
"""Arrays of one network in the order of its storages, with their shapes."""


def weights(parts: Sequence[Path], target: Path) -> None:
    """Write the networks, one ``.pt`` file each, as float32 arrays stacked in an ``.npz`` file.

    w1 (members x 512 x 10), b1 (members x 512), w2 (members x 512), b2 (members). Raises
    ``ValueError`` for a file of another layout.
    """
    members = [_tensors(part) for part in parts]
    stacked = {name: np.stack([member[name] for member in members]) for name in TENSORS}
    with target.open("wb") as file:
        np.savez_compressed(file, **stacked)


def _tensors(path: Path) -> dict[str, np.ndarray]:
    with zipfile.ZipFile(path) as archive:
        found = {entry.filename: entry.file_size for entry in archive.infolist()}
        if found != MEMBER_BYTES:
            raise ValueError(f"{path.name}: other members or sizes than the known network files")
        if hashlib.sha256(archive.read("archive/data.pkl")).hexdigest() != PICKLE_SHA256:
            raise ValueError(f"{path.name}: the layout of its storages is not the known one")
        return {
            name: np.frombuffer(archive.read(f"archive/data/{index}"), "<f4").reshape(shape)
            for index, (name, shape) in enumerate(TENSORS.items())
        }


def scalers(parts: Sequence[Path], target: Path) -> None:
    """Write levels, order of the numbers and the standardisation of each member as JSON."""
    model = json.loads(parts[0].read_text(encoding="utf-8"))
    domain = model["domain"]
    levels = {entry["name"]: entry["levels"] for entry in domain if "levels" in entry}
    numbers = [
        entry["name"]
        for entry in domain
        if "levels" not in entry and not entry.get("is_objective", False)
    ]
    predictors = model["experiment_params"]["predictors"]
    inputs = [predictor["input_preprocessor"]["num"] for predictor in predictors]
    outputs = [predictor["output_preprocessor"] for predictor in predictors]
    content = {
        "catalyst_levels": levels["catalyst"],
        "base_levels": levels["base"],
        "continuous_order": numbers,
        "in_mean": [scaler["mean_"] for scaler in inputs],
        "in_scale": [scaler["scale_"] for scaler in inputs],
        "out_mean": [_only(scaler["mean_"]) for scaler in outputs],
        "out_scale": [_only(scaler["scale_"]) for scaler in outputs],
    }
    target.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _only(values: Any) -> Any:
    (value,) = values
    return value
