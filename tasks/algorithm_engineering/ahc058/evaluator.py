"""Apple production planning (AHC058): invest in machines, harvest at the end (maximise).

The case score is 100000 log2 of the apples after turn 500; the objective is the sum over 150 cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmark.artifact import Artifact
from tasks.algorithm_engineering.ahc058 import generator
from tasks.algorithm_engineering.ahc058.picture import draw_production
from tasks.algorithm_engineering.ahc058.plan import case_score, read_economy, read_plan, simulate
from tasks.algorithm_engineering.cases import WrongAnswer
from tasks.algorithm_engineering.contest import Contest

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class AppleProduction(Contest):
    """A plan of 500 actions for each input."""

    public_per_held_out = 1.013  # three greedy plans: 1.005 to 1.013

    @staticmethod
    def generate(seed: int) -> bytes:
        """Capacities, then base costs by level."""
        return generator.generate(seed)

    def judge(self, seeds: Sequence[int], outputs: Sequence[str]) -> list[int | WrongAnswer]:
        """Read every plan, then simulate those that could be read together."""
        plans = [_plan_or_reason(text) for text in outputs]
        readable = [index for index, plan in enumerate(plans) if isinstance(plan, list)]
        verdicts: list[int | WrongAnswer] = [
            plan if isinstance(plan, WrongAnswer) else 0 for plan in plans
        ]
        if readable:
            economy = read_economy([self.inputs.text(seeds[index]) for index in readable])
            outcome = simulate(economy, np.array([plans[index] for index in readable]))
            for index, apples, broken in zip(
                readable, outcome.apples[:, -1].tolist(), outcome.broken.tolist(), strict=True
            ):
                verdicts[index] = _verdict(apples, broken)
        return verdicts

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        """Apples and powers over the turns of the first valid case."""
        seed, text = self.first_valid(artifact)
        economy = read_economy([self.inputs.text(seed)])
        actions = np.array([read_plan(text)])
        draw_production(seed, actions[0], simulate(economy, actions).apples[0], figure)


def _plan_or_reason(text: str) -> list[int] | WrongAnswer:
    try:
        return read_plan(text)
    except WrongAnswer as wrong:
        return wrong


def _verdict(apples: int, broken: int) -> int | WrongAnswer:
    if broken >= 0:
        return WrongAnswer(f"turn {broken}: too few apples to pay (or numbers beyond 2^62)")
    try:
        return case_score(apples)
    except WrongAnswer as wrong:
        return wrong


EVALUATOR = AppleProduction
