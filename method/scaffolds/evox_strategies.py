"""What EvoX knows of its strategies: windows, scores, the archive; from skydiscover's parts.

A strategy chooses parents and context programs. When the best score of the run has stood still for
a window of iterations, the strategy in force is scored and another one is wanted. Scorer, archive
and statistics are the package's; its manager is not used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from method.protocols import Program
from method.scaffolds.evox_world import CONTEXT
from method.scaffolds.native_population import program_id
from method.scaffolds.packages import Stream, metrics_of, require_package

GAIN = 0.01
"""A best score that rises by no more than this stands still."""
WINDOW_SHARE = 0.10
ATTEMPTS = 3
"""Answers that the model may give until a new strategy works."""
LABEL_NAMES = {"diverge": "DIVERGE_LABEL", "refine": "REFINE_LABEL"}
"""What strategies call the two instruction texts."""


@dataclass(frozen=True)
class Window:
    """How long strategies run: ``length`` iterations without a gain, of ``iterations`` in all."""

    length: int
    iterations: int

    @classmethod
    def of(cls, iterations: int, length: int | None) -> Window:
        """The given length, or a tenth of the run."""
        return cls(length or max(1, int(WINDOW_SHARE * iterations)), iterations)


class StrategyScores:
    """Counts iterations, scores strategies and keeps those that were scored.

    Knows strategies as sources and runs none.
    """

    def __init__(self, seed: int, window: Window) -> None:
        from skydiscover.config import DatabaseConfig
        from skydiscover.search.evox.database.search_strategy_db import SearchStrategyDatabase
        from skydiscover.search.evox.utils.search_scorer import LogWindowScorer

        self._seed = seed
        self._window = window
        self._stream = Stream(f"{seed}:scaffold")
        self._scorer = LogWindowScorer()
        self._archive = SearchStrategyDatabase("strategies", DatabaseConfig(random_seed=None))
        self._unscored: str | None = None
        self._start_statistics: Mapping[str, Any] = {}
        self._last_best: float | None = None
        self._standing_still = 0

    def take(self, code: str, best: float, t: int, statistics: Mapping[str, Any]) -> None:
        """A strategy comes into force after iteration ``t``: its window begins."""
        self._unscored = code
        self._start_statistics = statistics
        self._scorer.reset_window(best, start_iteration=t)

    def drop(self) -> None:
        """The strategy in force failed: it gets no score."""
        self._unscored = None

    def record(self, best: float, steps: int) -> bool:
        """Count an iteration (``steps``: what it counts for); says whether a change is due."""
        for _ in range(steps):
            self._scorer.record_step(best)
        stands = self._last_best is not None and best - self._last_best <= GAIN
        self._standing_still = self._standing_still + 1 if stands else 0
        self._last_best = best
        return self._standing_still >= self._window.length

    def close_window(
        self, number: int, best: float, t: int, statistics: Mapping[str, Any]
    ) -> float | None:
        """Score the strategy in force, if it has no score yet, and begin a new window.

        The score is gain * (1 + ln(1 + max(0, start))) / sqrt(window).
        """
        from skydiscover.search.evox.database.search_strategy_db import SearchStrategy

        self._standing_still = 0
        score: float | None = None
        if self._unscored is not None:
            metrics = self._scorer.compute_metrics(
                horizon=self._window.length, total_iterations=self._window.iterations
            )
            # The formatters look for the horizon under another name than the scorer's.
            metrics["search_window_horizon"] = metrics["search_horizon"]
            entry = SearchStrategy(
                id=program_id(self._seed, t, number, "strategy"),
                solution=self._unscored,
                metrics=metrics,
                iteration_found=number,
                timestamp=float(t),
                metadata={
                    "start_db_stats": dict(self._start_statistics),
                    "end_db_stats": dict(statistics),
                },
            )
            self._archive.add(entry, iteration=number)
            self._unscored = None
            score = float(metrics["combined_score"])
        self._scorer.reset_window(best)
        return score

    def choose(self) -> tuple[Any, list[Any]]:
        """The best strategy so far, to be rewritten, and others to be shown with it."""
        with self._stream.as_global():
            parents, groups = self._archive.sample(num_inspirations=CONTEXT)
        (parent,) = parents.values()
        return parent, [strategy for group in groups.values() for strategy in group]

    def state(self) -> tuple[Any, ...]:
        """What later iterations depend on, for a fingerprint."""
        return (
            [(name, entry.metrics) for name, entry in self._archive.programs.items()],
            self._unscored,
            self._last_best,
            self._standing_still,
            self._scorer.get_window_size(),
            self._scorer.get_start_score(),
            self._stream.digest(),
        )


def statistics_of(programs: Sequence[Program]) -> dict[str, Any]:
    """The package's statistics of a population, instruction texts by their names."""
    from skydiscover.config import DatabaseConfig
    from skydiscover.search.base_database import Program as PackageProgram
    from skydiscover.search.evox.database.search_strategy_db import SearchStrategyDatabase

    database = SearchStrategyDatabase("population", DatabaseConfig(random_seed=None))
    for program in programs:
        database.add(PackageProgram(**as_fields(program, LABEL_NAMES)))
    statistics = dict(database.get_statistics(improvement_threshold=GAIN))
    del statistics["previous_programs"]  # objects; no text is made of them
    return statistics


def population_text(programs: Sequence[Program]) -> str:
    """EvoX's own text of a population's statistics, for comparisons with EvoX (1.7 c).

    Raises :class:`~method.scaffolds.packages.PackageProblem` without ``skydiscover``.
    """
    require_package("skydiscover", "0.1.0")
    from skydiscover.prompt.evox import formatters

    if not programs:
        return ""
    return str(formatters.format_population_state(statistics_of(programs)))


def as_fields(program: Program, labels: Mapping[str, str]) -> dict[str, Any]:
    """A program as the package's ``Program`` takes it, all plain data."""
    parent = program.parent_id
    return {
        "id": program.id,
        "solution": program.code,
        "language": program.language,
        "metrics": metrics_of(program),
        "iteration_found": program.iteration,
        "parent_id": parent,
        "other_context_ids": list(program.context_ids),
        "parent_info": None if parent is None else [labels.get(program.label, ""), parent],
        "context_info": [["", name] for name in program.context_ids],
        "timestamp": float(program.iteration),
        "metadata": {"changes": program.changes},
        "artifacts": dict(program.artifacts),
    }


def first_strategy() -> str:
    """The source of the strategy that EvoX starts with: parent and context at random."""
    return package_file("search/evox/database", "initial_search_strategy.py")


def package_file(folder: str, name: str) -> str:
    """The text of a file that skydiscover ships."""
    return resources.files("skydiscover").joinpath(*folder.split("/"), name).read_text("utf-8")
