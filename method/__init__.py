"""EvoDuet and its baselines: scaffolds, retrievers, and one outer loop that drives them.

>>> import method
>>> result = method.run("cp26", "evoduet", "offline/perturb", out="runs/1")  # doctest: +SKIP
>>> result.ndg  # doctest: +SKIP
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from method.runs import RunResult


def run(task: str, method: str, model: str, *, out: Path | str, **options: Any) -> RunResult:
    """Run a method on a task; ``options`` are the fields of :class:`method.config.RunConfig`.

    Raises what :func:`method.runs.run` and :func:`method.config.make_config` raise.
    """
    from method.config import make_config
    from method.runs import run as start

    return start(make_config(None, task=task, method=method, model=model, **options), Path(out))
