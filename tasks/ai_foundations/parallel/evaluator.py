"""How the loss falls with model size and parallel streams (maximise held-out R2).

Measurements: M. Chen et al., Parallel scaling law for language models, arXiv:2505.10475; training
rows have 1, 2 or 4 streams, held out are 8.
"""

from __future__ import annotations

from tasks.ai_foundations import embedded
from tasks.ai_foundations.scaling_law import ScalingLaw
from tasks.ai_foundations.tables import Sizes

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


EVALUATOR = ParallelScaling
