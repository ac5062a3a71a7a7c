"""Files of results: the records, and beside them what the programs made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.commands.options import write_text

if TYPE_CHECKING:
    from benchmark.evaluation import Evaluation


def save_results(file: Path, results: Sequence[Evaluation]) -> None:
    """Write the records to ``file`` and the artifacts of valid ones into ``artifacts`` beside it.

    ``evoduet verify`` finds an artifact by its digest. Raises ``OSError``.
    """
    from benchmark.verification.store import FOLDER, keep

    for result in results:
        if result.valid and result.artifact is not None:
            keep(result.artifact, file.parent / FOLDER)
    content: dict[str, Any] = {"results": [result.to_json() for result in results]}
    write_text(file, json.dumps(content, indent=1, allow_nan=False) + "\n")
