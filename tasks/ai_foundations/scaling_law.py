"""Scaling laws: a program fits a formula to measured losses, and predicts losses it never saw.

The program defines ``fit_scaling_law(data_points, loss_values) -> params``, called once for each
group of training rows, and ``scaling_law_func(data_points, params) -> predictions``. Fitting and
predicting happen in different fresh processes that are handed arrays and nothing else. Stage
``search`` scores the training rows; the held-out rows are read at stage ``report`` alone.

Problem and tables: SLDBench, H. Lin et al., arXiv:2507.21184.
"""

from __future__ import annotations

import sys
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from benchmark.artifact import Artifact, Plain
from benchmark.candidates import ArrayFunctions
from benchmark.data import data_file
from benchmark.evaluator import Call, Failure, Invalid, Sandbox, Score, Stage, Unavailable
from benchmark.side_by_side import Named, Shown
from tasks.ai_foundations import returned, rowwise
from tasks.ai_foundations.embedded import Tables
from tasks.ai_foundations.goodness import Goodness, goodness
from tasks.ai_foundations.literals import literal_flags
from tasks.ai_foundations.tables import Array, Sizes, Split, Table, read_table, sizes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tasks.ai_foundations.picture_pair import Law

SEED = 42
CALL_WALL_S = 600.0  # of one fit or prediction, as in the paper's runs
SPLITS: Mapping[Stage, Split] = {"search": "train", "report": "test"}
LOWEST = -sys.float_info.max
"""Search score where R2 is minus infinity: worse than any other, and still a number."""

Predictions = dict[str, Array]


class ScalingLaw(ArrayFunctions):
    """A task names its columns, its groups and the most parameters that a group may have."""

    _used_s: float = 0.0
    """Wall time of this evaluation's processes so far."""

    stages = ("search", "report")
    features: ClassVar[tuple[str, ...]]
    targets: ClassVar[tuple[str, ...]]
    max_parameters: ClassVar[int]
    sizes: ClassVar[Sizes]
    """Rows of the official tables by group."""
    partial_sizes: ClassVar[Sizes] = {}
    """Rows of the tables of variant ``partial``, where the task has it."""

    @abstractmethod
    def simulated(self) -> Tables:
        """The tables of variant ``embedded``."""

    # --- data ------------------------------------------------------------------------------------

    def table(self, split: Split) -> Table:
        """The rows of one split; raises :class:`Unavailable` for a missing or another table."""
        if self.setup.variant == "embedded":
            return self.simulated()[split]
        partial = self.setup.variant == "partial"
        expected = (self.partial_sizes if partial else self.sizes)[split]
        name = f"{split}_partial.csv" if partial and split == "train" else f"{split}.csv"
        path = data_file(self.setup, name)
        try:
            table = read_table(path, self.features, self.targets)
        except ValueError as error:
            raise Unavailable(f"{error}; fetch the table again") from None
        if sizes(table) != expected:
            raise Unavailable(f"{path} is another table: it holds {sizes(table)} rows by group")
        return table

    # --- produce ---------------------------------------------------------------------------------

    def produce(self, program: Path, sandbox: Sandbox, stage: Stage) -> Artifact:
        """Fit the training rows, then predict those of the stage; see :mod:`.rowwise`."""
        self._used_s = 0.0
        params = self.fit(program, sandbox)
        predictions = self.predict(program, sandbox, self.table(SPLITS[stage]), params)
        flags = literal_flags(program.read_text(encoding="utf-8-sig", errors="replace"))
        data: dict[str, Plain] = dict(predictions)
        return Artifact(data, {"flags": list(flags)} if flags else {})

    def fit(self, program: Path, sandbox: Sandbox) -> dict[str, np.ndarray[Any, Any]]:
        """The parameters of each group, fitted in one process that sees training rows only."""
        train = self.table("train")
        calls = [
            Call("fit_scaling_law", [rows.features, self._shaped(rows.targets)])
            for rows in train.values()
        ]
        answers = self._answers(program, sandbox, calls)
        return {
            group: returned.parameters(answer, self.max_parameters, group)
            for group, answer in zip(train, answers, strict=True)
        }

    def predict(
        self,
        program: Path,
        sandbox: Sandbox,
        table: Table,
        params: Mapping[str, np.ndarray[Any, Any]],
    ) -> Predictions:
        """Predictions (n, D) by group; raises :class:`Invalid` where the batch decides on them."""
        check = bool(self.setup.options["row_check"])
        everything = {group: np.arange(len(rows)) for group, rows in table.items()}
        questions = [
            (group, part)
            for group, rows in table.items()
            for part in [everything[group], *(rowwise.halves(rows) if check else [])]
        ]
        answers = self._ask(program, sandbox, table, params, questions)
        whole = {
            group: answer
            for (group, part), answer in zip(questions, answers, strict=True)
            if part is everything[group]
        }
        if check and all(np.isfinite(values).all() for values in whole.values()):
            for (group, part), answer in zip(questions, answers, strict=True):
                rowwise.require_equal(whole[group][part], answer, group)
            self._check_single_rows(program, sandbox, table, params, whole)
        return whole

    def _check_single_rows(
        self,
        program: Path,
        sandbox: Sandbox,
        table: Table,
        params: Mapping[str, np.ndarray[Any, Any]],
        whole: Predictions,
    ) -> None:
        chosen = rowwise.single_rows(table)
        questions = [
            (group, rows[i : i + 1]) for group, rows in chosen.items() for i in range(len(rows))
        ]
        try:
            answers = self._ask(program, sandbox, table, params, questions)
        except Failure as failure:
            raise type(failure)(
                f"scaling_law_func, asked for one row at a time: {failure}"
            ) from None
        for (group, row), answer in zip(questions, answers, strict=True):
            rowwise.require_equal(whole[group][row], answer, group)

    def _ask(
        self,
        program: Path,
        sandbox: Sandbox,
        table: Table,
        params: Mapping[str, np.ndarray[Any, Any]],
        questions: Sequence[tuple[str, rowwise.Selection]],
    ) -> list[Array]:
        """Predictions for parts of groups, asked for in order in one fresh process."""
        if not questions:
            return []
        calls = [
            Call("scaling_law_func", [table[group].features[part], params[group]])
            for group, part in questions
        ]
        answers = self._answers(program, sandbox, calls)
        return [
            returned.predictions(answer, len(part), len(self.targets), group)
            for (group, part), answer in zip(questions, answers, strict=True)
        ]

    def _answers(self, program: Path, sandbox: Sandbox, calls: Sequence[Call]) -> list[Any]:
        """The answers of one fresh process, within what its calls and the evaluation may take."""
        left = self.setup.task.limits.wall_s - self._used_s
        started = time.monotonic()
        try:
            return sandbox.call(
                program,
                calls,
                random_seed=SEED,
                numpy_seed=SEED,
                wall_s=max(1.0, min(left, CALL_WALL_S * len(calls))),
            )
        finally:
            self._used_s += time.monotonic() - started

    def _shaped(self, targets: Array) -> Array:
        """Targets as programs know them: one dimension where there is one target."""
        return targets[:, 0] if len(self.targets) == 1 else targets

    # --- score -----------------------------------------------------------------------------------

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        """R2 of the training rows, or at stage ``report`` that of the held-out rows, clipped."""
        table = self.table(SPLITS[stage])
        predictions = self.predictions(artifact, table)
        total = goodness(
            np.concatenate(list(predictions.values())),
            np.concatenate([rows.targets for rows in table.values()]),
        )
        groups = {
            group: goodness(values, table[group].targets) for group, values in predictions.items()
        }
        prefix = "" if stage == "search" else "heldout_"
        metrics = {f"{prefix}{name}": value for name, value in self._metrics(total, groups).items()}
        feedback = self._feedback(total, groups, stage, artifact.facts.get("flags", ()))
        if stage == "search":
            return Score(max(total.r2, LOWEST), None, metrics, feedback)
        return Score(None, total.reported, metrics, feedback)

    def predictions(self, artifact: Artifact, table: Table) -> Predictions:
        """The artifact's predictions for the rows of ``table``, by group.

        They are a dictionary by group, or one array for all rows (bare or as ``predictions``):
        groups in sorted order of their names, rows in the order of the table. Raises
        :class:`Invalid`.
        """
        stored = artifact.construction
        if isinstance(stored, dict) and stored.keys() == {"predictions"}:
            stored = stored["predictions"]
        if not isinstance(stored, dict):
            n_rows = sum(sizes(table).values())
            values = returned.predictions(stored, n_rows, len(self.targets), "all groups")
            ends = np.cumsum(list(sizes(table).values()))[:-1]
            stored = dict(zip(table, np.split(values, ends), strict=True))
        if stored.keys() != table.keys():
            raise Invalid(f"the predictions must be for the groups {', '.join(table)}")
        found = {
            group: returned.predictions(stored[group], len(rows), len(self.targets), group)
            for group, rows in table.items()
        }
        for group, values in found.items():
            if not np.isfinite(values).all():
                raise Invalid(f"the predictions for {group} hold NaN or infinity")
        return found

    def _metrics(self, total: Goodness, groups: Mapping[str, Goodness]) -> dict[str, float]:
        """Finite numbers only: an undefined metric is absent."""
        found = {"r2": total.r2, "nmse": total.nmse, "nmae": total.nmae}
        if len(self.targets) > 1:
            for index, target in enumerate(self.targets):
                found[f"r2_{target}"] = total.r2_per_dim[index]
                found[f"nmse_{target}"] = total.nmse_per_dim[index]
                found[f"nmae_{target}"] = total.nmae_per_dim[index]
        if len(groups) > 1:
            found |= {f"r2_within_{group}": one.r2 for group, one in groups.items()}
        return {name: value for name, value in found.items() if np.isfinite(value)}

    def _feedback(
        self, total: Goodness, groups: Mapping[str, Goodness], stage: Stage, flags: Sequence[str]
    ) -> str:
        where = "training" if stage == "search" else "held-out"
        lines = [f"R2 {total.r2:.6g} on the {where} rows"]
        if len(groups) > 1:
            worst_first = sorted(groups.items(), key=lambda item: item[1].r2)
            listed = ", ".join(f"{group} {one.r2:.4g}" for group, one in worst_first)
            lines.append(f"R2 within each group, worst first: {listed}")
        if len(self.targets) > 1:
            listed = ", ".join(
                f"{target} {r2:.4g}"
                for target, r2 in zip(self.targets, total.r2_per_dim, strict=True)
            )
            lines.append(f"R2 of each output: {listed}")
        lines += [f"flagged for a look by a person: {flag}" for flag in flags]
        return "\n".join(lines)

    # --- picture ---------------------------------------------------------------------------------

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        """Predicted against actual, by group; held-out rows where the artifact holds them."""
        from tasks.ai_foundations.pictures import draw_predictions

        try:
            split: Split = "test"
            table = self.table(split)
            found = self.predictions(artifact, table)
        except Invalid:
            split, table = "train", self.table("train")
            found = self.predictions(artifact, table)
        draw_predictions(figure, table, found, self.targets, split, self.setup.variant)

    def draw_together(self, found: Sequence[Named], figure: Figure) -> Shown:
        """Predicted against actual, a panel a law, and their errors; held-out rows where all have
        them."""
        from tasks.ai_foundations import picture_pair

        split, laws = self.laws(found)
        where = f"{picture_pair.ROWS[split]}{self._variant_note()}"
        return picture_pair.draw(figure, self.table(split), laws, self.targets, where)

    def laws(self, found: Sequence[Named]) -> tuple[Split, list[Law]]:
        """The rows for which all artifacts hold predictions, and these. Raises :class:`Invalid`."""
        from tasks.ai_foundations.picture_pair import Law

        splits: tuple[Split, ...] = ("test", "train")
        for split in splits:
            table = self.table(split)
            with suppress(Invalid):
                return split, [Law(o.label, self.predictions(o.artifact, table)) for o in found]
        raise Invalid("the artifacts hold predictions for different rows; draw both at one stage")

    def _variant_note(self) -> str:
        variant = self.setup.variant
        return "" if variant == "official" else f"; {variant} data, not comparable"
