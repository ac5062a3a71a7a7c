"""How the loss falls with model size and parallel streams (maximise held-out R2).

Measurements: M. Chen et al., Parallel scaling law for language models, arXiv:2505.10475; training
rows have 1, 2 or 4 streams, held out are 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmark.side_by_side import Named, Shown
from tasks.ai_foundations import embedded
from tasks.ai_foundations.scaling_law import ScalingLaw
from tasks.ai_foundations.tables import Sizes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CORPORA = ("pile", "stack")
ROWS: Sizes = {"train": dict.fromkeys(CORPORA, 18), "test": dict.fromkeys(CORPORA, 6)}


class ParallelScaling(ScalingLaw):
    """Number of parameters and of parallel streams to the loss; one law for each corpus."""

    features = ("num_params", "parallel_size")
    targets = ("loss",)
    max_parameters = 4
    sizes = ROWS

    def simulated(self) -> embedded.Tables:
        return embedded.parallel(self.sizes)

    def draw_together(self, found: Sequence[Named], figure: Figure) -> Shown:
        """The losses by size and streams, the better law on held-out rows, and how both fit."""
        from tasks.ai_foundations import picture_pair

        split, laws = self.laws(found)
        if split == "train":
            return super().draw_together(found, figure)
        figure.set_size_inches(3.6 * len(laws) + 2.6, 6.6)
        parts = figure.subfigures(2, 1, squeeze=False, height_ratios=(1, 1.35))
        upper, lower = parts.ravel()
        table = self.table(split)
        stars = picture_pair.draw_grid(upper, self.table("train"), table, laws)
        upper.suptitle(
            f"★ {laws[-1].label} closer than {laws[0].label}: {stars} of "
            f"{sum(map(len, table.values()))} held-out rows{self._variant_note()}",
            fontsize="medium",
        )
        picture_pair.draw_fit(lower, table, laws, picture_pair.ROWS[split])
        return picture_pair.shown(table, laws, self.targets)


EVALUATOR = ParallelScaling
