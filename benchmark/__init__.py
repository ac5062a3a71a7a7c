"""The harness of EvoDuet bench: run any program on any task, get a verdict that can be trusted.

>>> from benchmark import evaluate
>>> evaluate("mathematics/cp26", "my_program.py").ndg  # doctest: +SKIP
56.9
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmark.artifact import Artifact
    from benchmark.evaluation import Evaluation, evaluate
    from benchmark.evaluator import Evaluator, Invalid, Score
    from benchmark.harness import Harness
    from benchmark.ndg import ndg

__all__ = ["Artifact", "Evaluation", "Evaluator", "Harness", "Invalid", "Score", "evaluate", "ndg"]

_HOMES = {
    "Artifact": "benchmark.artifact",
    "Evaluation": "benchmark.evaluation",
    "Evaluator": "benchmark.evaluator",
    "Harness": "benchmark.harness",
    "Invalid": "benchmark.evaluator",
    "Score": "benchmark.evaluator",
    "evaluate": "benchmark.evaluation",
    "ndg": "benchmark.ndg",
}


def __getattr__(name: str) -> Any:
    """Import on first use, so that ``evoduet --help`` does not wait for numpy."""
    if name not in _HOMES:
        raise AttributeError(f"module 'benchmark' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_HOMES[name]), name)
