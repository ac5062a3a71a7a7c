"""Rediscover f = 1/(1/d1 + n/d2) from data (minimise the mean squared relative error).

SRSD-Feynman, easy set, ``feynman-i.27.6``: Y. Matsubara et al., DMLR 2024, arXiv:2206.10540. The
search score is on the validation rows; stage ``report`` adds the test rows and the normalised tree
edit distance (NED) to the true law, which are no part of the score.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from benchmark.artifact import Artifact, Plain
from benchmark.candidates import PayloadSolver
from benchmark.data import data_file
from benchmark.evaluator import Invalid, Score, Setup, Stage
from tasks.simple_science import answers
from tasks.simple_science.feynman_i_27_6 import dataset, similarity
from tasks.simple_science.feynman_i_27_6.expression import (
    VARIABLES,
    parse,
    predict,
    relative_error,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DESCRIPTIONS = {
    "x0": "object distance d1 in metres",
    "x1": "refractive index n",
    "x2": "image distance d2 in metres",
}


class LensLaw(PayloadSolver):
    """``solve`` returns ``{"expression": text}``."""

    stages = ("search", "report")
    score_in_process = True

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._files = {part: data_file(setup, f"{part}.txt") for part in ("train", "val", "test")}

    def payload(self) -> dict[str, Plain]:
        inputs, targets = dataset.read(self._files["train"])
        return {
            "x_train": inputs.tolist(),
            "y_train": targets.tolist(),
            "variables": list(VARIABLES),
            "variable_descriptions": dict(DESCRIPTIONS),
        }

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        text, formula = valid_formula(artifact)
        error = self._error(formula, "val")
        _refuse_constant(formula)
        combined = 1 / (1 + error)
        metrics = {"msre": error}
        feedback = f"mean squared relative error {error:.9g} on the validation rows"
        if stage == "report":
            distance = similarity.edit_distance(text)
            if distance is not None:
                metrics["ned"] = distance
            try:
                metrics["test_msre"] = self._error(formula, "test")
                metrics["test_score"] = 1 / (1 + metrics["test_msre"])
            except Invalid as problem:
                feedback += f"; no value on the test rows: {problem}"
        return Score(combined, combined, metrics, feedback)

    def _error(self, formula: ast.expr, part: str) -> float:
        inputs, targets = dataset.read(self._files[part])
        return relative_error(predict(formula, inputs), targets)

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        text, formula = valid_formula(artifact)
        inputs, targets = dataset.read(self._files["val"])
        predicted = predict(formula, inputs)
        left, right = figure.subplots(1, 2)
        ends = [targets.min(), targets.max()]
        positive = predicted > 0
        left.loglog(ends, ends, color="black", linewidth=0.8)
        left.loglog(targets[positive], predicted[positive], ".", markersize=3, alpha=0.5)
        left.set(xlabel="focal length (m)", ylabel="formula (m)")
        right.hist(predicted / targets - 1, bins=60, color="tab:gray")
        right.set(xlabel="relative error", ylabel="validation rows", yscale="symlog")
        shown = text if len(text) <= 60 else text[:57] + "..."
        figure.suptitle(
            f"{shown}   MSRE {relative_error(predicted, targets):.4g}", parse_math=False
        )


def valid_formula(artifact: Artifact) -> tuple[str, ast.expr]:
    """Text and syntax tree; raises :class:`Invalid` for what the grammar does not know."""
    (value,) = answers.fields(answers.answer(artifact), "expression")
    text = answers.text(value, "expression")
    return text, parse(text)


def _refuse_constant(formula: ast.expr) -> None:
    from tasks.simple_science.feynman_i_27_6 import symbolic

    try:
        constant = symbolic.is_constant(formula)
    except Exception as error:  # whatever sympy trips over, the candidate wrote it
        raise Invalid(f"the expression has no symbolic form ({type(error).__name__})") from None
    if constant:
        raise Invalid(f"the expression depends on none of {', '.join(VARIABLES)}")


EVALUATOR = LensLaw
