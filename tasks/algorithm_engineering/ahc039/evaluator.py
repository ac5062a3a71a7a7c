"""Purse seine fishing (AHC039): enclose mackerels, avoid sardines (maximise).

The case score is max(0, mackerels - sardines + 1) in the closed region of one axis-parallel
polygon; the objective is the sum over 150 cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from benchmark.artifact import Artifact
from tasks.algorithm_engineering.ahc039 import generator
from tasks.algorithm_engineering.ahc039.generator import FISH
from tasks.algorithm_engineering.ahc039.picture import draw_catch
from tasks.algorithm_engineering.ahc039.polygon import Points, Polygon, last_polygon
from tasks.algorithm_engineering.cases import WrongAnswer, artifact_cases
from tasks.algorithm_engineering.contest import Contest
from tasks.algorithm_engineering.tokens import WORD

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from benchmark.evaluator import Score, Setup, Stage

EMPTY_OUTPUT_SCORE = 1
"""The contest's tester takes an output without any word as an empty polygon; so do we."""


class PurseSeineFishing(Contest):
    """A polygon for each input."""

    public_per_held_out = 1.0  # the initial program: 0.999, with a noise of 0.003

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.fish = lru_cache(maxsize=300)(self._read_fish)

    @staticmethod
    def generate(seed: int) -> bytes:
        """5000 mackerels, then 5000 sardines."""
        return generator.generate(seed)

    def _read_fish(self, seed: int) -> Points:
        """Positions (2 * FISH, 2), mackerels first."""
        numbers = np.fromstring(self.inputs.text(seed).decode(), dtype=np.int64, sep=" ")
        return numbers[1:].reshape(2 * FISH, 2)

    def judge(self, seeds: Sequence[int], outputs: Sequence[str]) -> list[int | WrongAnswer]:
        """One case after the other."""
        return [self._judge(seed, text) for seed, text in zip(seeds, outputs, strict=True)]

    def _judge(self, seed: int, text: str) -> int | WrongAnswer:
        try:
            vertices = last_polygon(text)
            if vertices is None:
                return EMPTY_OUTPUT_SCORE
            caught = Polygon(vertices).encloses(self.fish(seed))
        except WrongAnswer as wrong:
            return wrong
        mackerels, sardines = int(caught[:FISH].sum()), int(caught[FISH:].sum())
        return max(0, mackerels - sardines + 1)

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        """As for every contest, and how many outputs were empty, if any."""
        score = super().score(artifact, stage)
        outputs = [text for _, text in artifact_cases(artifact.data) if text is not None]
        empty = sum(WORD.search(text) is None for text in outputs)
        if not empty:
            return score
        return replace(
            score,
            metrics={**score.metrics, "empty_output": float(empty)},
            feedback=f"{score.feedback}. {empty} empty outputs, which score 1 each",
        )

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        """The polygon of the first valid case over its fish."""
        seed, text = self.first_valid(artifact)
        draw_catch(seed, self.fish(seed), last_polygon(text), figure)


EVALUATOR = PurseSeineFishing
