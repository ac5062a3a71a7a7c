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


def run(
    task: str, method: str, model: str, *, out: Path | str | None = None, **options: Any
) -> RunResult:
    """Run a method on a task; ``options`` are the fields of :class:`method.config.RunConfig`.

    ``out`` is the new folder of the run, by default one below ``results/runs``. Raises what
    :func:`method.runs.run` and :func:`method.config.make_config` raise.
    """
    from method.config import make_config
    from method.manifest import new_folder
    from method.runs import run as start

    config = make_config(None, task=task, method=method, model=model, **options)
    return start(config, new_folder(config) if out is None else Path(out))
