"""Denoise single-cell RNA counts (maximise): recover the other tenth of each cell's molecules.

Molecular cross-validation as in the Open Problems benchmark (Luecken et al., Nature Biotechnology
2025). Search: normalised mean squared error on one data set, behind a gate on the Poisson loss.
Reported: the mean over two held-out data sets of both normalised losses, behind the same gate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.artifact import Artifact, Plain
from benchmark.evaluator import Evaluator, Failure, Invalid, Sandbox, Score, Stage, Unavailable
from benchmark.side_by_side import Named, Shown
from tasks.scientific_algorithms.denoising import datasets, metric, sandboxed
from tasks.scientific_algorithms.denoising.answers import checked
from tasks.scientific_algorithms.denoising.datasets import Dataset
from tasks.scientific_algorithms.denoising.metric import Quality

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Denoising(Evaluator):
    """``magic_denoise(X, random_state=42)`` maps training counts to a denoised matrix."""

    stages = ("search", "report")
    failed_repeat = 0.0

    def produce(self, program: Path, sandbox: Sandbox, stage: Stage) -> Artifact:
        """Denoise the data sets of the stage; a failure on one of the held-out sets is kept."""
        if stage == "search":
            name = self._names(stage)[0]
            return Artifact({name: sandboxed.denoise(program, sandbox, self._load(name).train)})
        patience_s = float(self.setup.options["heldout_wall_s"])
        answers: dict[str, Plain] = {}
        failures: list[Failure] = []
        reasons: dict[str, str] = {}
        for name in self._names(stage):
            train = self._load(name).train
            try:
                answers[name] = sandboxed.denoise(program, sandbox, train, wall_s=patience_s)
            except Unavailable:
                raise
            except Failure as failure:
                answers[name] = None
                failures.append(failure)
                reasons[name] = f"{failure.status}: {failure}"
        if len(failures) == len(answers):
            raise failures[0]
        return Artifact(answers, {"failed": reasons} if reasons else {})

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        """Score the answers: a dictionary by data set, or for the search the bare matrix."""
        answers = self._answers(artifact, stage)
        if stage == "search":
            ((name, answer),) = answers.items()
            return self._search_score(self._load(name), answer)
        return self._report_score(answers, artifact.facts.get("failed", {}))

    def _names(self, stage: Stage) -> tuple[str, ...]:
        variant = self.setup.variant
        return (datasets.SEARCH[variant],) if stage == "search" else datasets.HELD_OUT[variant]

    def _load(self, name: str) -> Dataset:
        return datasets.load(self.setup, name)

    def _answers(self, artifact: Artifact, stage: Stage) -> dict[str, Any]:
        names = self._names(stage)
        stored = artifact.construction
        if not isinstance(stored, dict) and len(names) == 1:
            return {names[0]: stored}
        if not isinstance(stored, dict) or set(stored) != set(names):
            raise Invalid(f"the artifact must hold a matrix for each of {', '.join(names)}")
        return {name: stored[name] for name in names}

    def _quality(self, dataset: Dataset, answer: Any) -> Quality:
        matrix = checked(answer, dataset, strict=bool(self.setup.options["strict"]))
        found = metric.losses(matrix, dataset.test, dataset.train_total)
        quality = Quality(found, dataset.constants)
        if not quality.is_sane:
            raise Invalid(
                f"Poisson loss {found.poisson:.9g} on {dataset.name} is below that of perfect "
                f"denoising, {dataset.constants.perfect_poisson:.9g}"
            )
        return quality

    def _search_score(self, dataset: Dataset, answer: Any) -> Score:
        quality = self._quality(dataset, answer)
        zeros = dataset.all_zero.search_score
        metrics = {
            "mse": quality.losses.mse,
            "poisson": quality.losses.poisson,
            "mse_norm": quality.mse_norm,
            "poisson_norm": quality.poisson_norm,
            "poisson_pass": float(quality.passes_gate),
            "output_to_input_total": float(np.sum(answer, dtype=np.float64)) / dataset.train_total,
            "all_zero_score": zeros,
        }
        gate = "passes" if quality.passes_gate else "FAILS"
        feedback = (
            f"normalised mean squared error {quality.mse_norm:.6g} (1 is perfect, 0 no denoising); "
            f"normalised Poisson {quality.poisson_norm:.6g} {gate} the gate of {metric.GATE}; "
            f"a matrix of zeros would score {zeros:.4g}"
        )
        return Score(quality.search_score, None, metrics, self._labelled(feedback))

    def _report_score(self, answers: Mapping[str, Any], failed: Mapping[str, str]) -> Score:
        """A data set that the candidate failed on, or whose gate it failed, counts 0."""
        scores: dict[str, float] = {}
        metrics: dict[str, float] = {}
        refusals: dict[str, Invalid] = {}
        for name, answer in answers.items():
            try:
                if answer is None:
                    raise Invalid(failed.get(name, "the program gave no answer"))
                quality = self._quality(self._load(name), answer)
            except Invalid as refusal:
                scores[name], refusals[name] = 0.0, refusal
                continue
            scores[name] = quality.heldout_score
            metrics |= {
                f"heldout_{name}_score": quality.heldout_score,
                f"heldout_{name}_mse": quality.losses.mse,
                f"heldout_{name}_poisson": quality.losses.poisson,
                f"heldout_{name}_mse_norm": quality.mse_norm,
                f"heldout_{name}_poisson_norm": quality.poisson_norm,
                f"heldout_{name}_all_zero_score": self._load(name).all_zero.heldout_score,
            }
        if len(refusals) == len(answers):
            raise next(iter(refusals.values()))
        objective = math.fsum(scores.values()) / len(scores)
        notes = [f"{name} {score:.6g}" for name, score in scores.items()]
        notes += [f"{name} failed: {refusal}" for name, refusal in refusals.items()]
        if self.setup.variant == "embedded":
            span = datasets.EMBEDDED_SOTA - datasets.EMBEDDED_X0
            place = (objective - datasets.EMBEDDED_X0) / span
            notes.append(f"{place:.1%} of the way from the initial to the SimpleTES program here")
        return Score(None, objective, metrics, self._labelled("held out: " + "; ".join(notes)))

    def _labelled(self, feedback: str) -> str:
        if self.setup.variant == "official":
            return feedback
        return f"{feedback}\nsimulated cells: not comparable with published scores"

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        """Expression heat maps: what the program saw, what it made of it, what it was held to."""
        from tasks.scientific_algorithms.denoising.heatmap import draw_heatmaps

        answers = self._any_answers(artifact)
        name = next((name for name, answer in answers.items() if answer is not None), None)
        if name is None:
            raise Invalid("the artifact holds no matrix to draw")
        dataset = self._load(name)
        note = "" if self.setup.variant == "official" else " (simulated, not comparable)"
        draw_heatmaps(figure, dataset, checked(answers[name], dataset, strict=False), note)

    def draw_together(self, found: Sequence[Named], figure: Figure) -> Shown:
        """Heat maps of the input, each answer and the held-out counts on one colour scale."""
        from tasks.scientific_algorithms.denoising import heatmap_pair

        answered = [self._any_answers(one.artifact) for one in found]
        common = [n for n in answered[0] if all(a.get(n) is not None for a in answered)]
        if not common:
            raise Invalid("the artifacts hold no answer for one and the same data set")
        name = heatmap_pair.FIRST_CHOICE if heatmap_pair.FIRST_CHOICE in common else common[0]
        dataset = self._load(name)
        matrices = [
            (one.label, checked(answers[name], dataset, strict=False))
            for one, answers in zip(found, answered, strict=True)
        ]
        note = "" if self.setup.variant == "official" else " (simulated, not comparable)"
        return heatmap_pair.draw(figure, dataset, matrices, note)

    def _any_answers(self, artifact: Artifact) -> dict[str, Any]:
        try:
            return self._answers(artifact, "report")
        except Invalid:
            return self._answers(artifact, "search")


EVALUATOR = Denoising
