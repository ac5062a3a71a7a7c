"""The official tables from the hub, as CSV: converters for ``evoduet data fetch``.

The download that the data manager hands over is the hub's description of the data set at the pinned
revision; the rows themselves come through the hub's own library ``datasets``, which knows how they
are stored. Scoring later reads the CSV alone.
"""

from __future__ import annotations

import importlib
import json
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmark.evaluator import Unavailable
from tasks.ai_foundations.tables import Split, write_csv

DATASET = "pkuHaowei/sldbench"
REVISION = "721b846056f031737ff7fa72572c021324e3ec0e"
DOUBTFUL_TOKENS = 1e13
"""An older copy of the held-out lr_bsz rows says so where the study has 1e11 tokens."""

Converter = Callable[[Sequence[Path], Path], None]


def _converter(task: str, config: str, split: Split) -> Converter:
    def convert(downloads: Sequence[Path], target: Path) -> None:
        require_revision(downloads[0])
        law = importlib.import_module(f"tasks.ai_foundations.{task}.evaluator").EVALUATOR
        columns = [*law.features, *law.targets]
        records: list[dict[str, str | float]] = [
            {"group": str(row["group"]), **{name: float(row[name]) for name in columns}}
            for row in load_rows(config, split)
        ]
        found = Counter(str(record["group"]) for record in records)
        if found != law.sizes[split]:
            raise ValueError(f"{config}/{split} holds {dict(found)} rows by group")
        if any(record.get("data_size") == DOUBTFUL_TOKENS for record in records):
            warnings.warn(
                f"{config}/{split}: data_size reads {DOUBTFUL_TOKENS:g} where the study has 1e11; "
                "the table is kept as the hub has it",
                stacklevel=2,
            )
        write_csv(target, ["group", *columns], records)

    return convert


def require_revision(description: Path) -> None:
    """Raise ``ValueError`` unless the hub's description is of the pinned revision."""
    try:
        revision = json.loads(description.read_bytes())["sha"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{description.name} is no description of {DATASET}") from None
    if revision != REVISION:
        raise ValueError(f"the hub answered with revision {revision} instead of {REVISION}")


def load_rows(config: str, split: Split) -> Any:
    """The rows (dictionaries) of one table at the pinned revision."""
    try:
        from datasets import load_dataset  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise Unavailable(
            "the official tables come through the library datasets: pip install 'evoduet[hub]'"
        ) from None
    return load_dataset(DATASET, name=config, split=split, revision=REVISION)


domain_mixture_train = _converter("domain_mixture", "domain_mixture_scaling_law", "train")
domain_mixture_test = _converter("domain_mixture", "domain_mixture_scaling_law", "test")
u_shape_train = _converter("u_shape", "easy_question_scaling_law", "train")
u_shape_test = _converter("u_shape", "easy_question_scaling_law", "test")
lr_bsz_train = _converter("lr_bsz", "lr_bsz_scaling_law", "train")
lr_bsz_test = _converter("lr_bsz", "lr_bsz_scaling_law", "test")
parallel_train = _converter("parallel", "parallel_scaling_law", "train")
parallel_test = _converter("parallel", "parallel_scaling_law", "test")
