"""How the loss depends on learning rate, batch size, data and model size (maximise held-out R2).

Measurements: H. Li et al., Step Law, arXiv:2503.04715; held out is the largest model, trained on
the most tokens. The public copy of the training table is partial: variant ``partial``.
"""

from __future__ import annotations

from tasks.ai_foundations import embedded
from tasks.ai_foundations.scaling_law import ScalingLaw
from tasks.ai_foundations.tables import Sizes

ROWS: Sizes = {"train": {"all_data": 2702}, "test": {"all_data": 117}}
PARTIAL_ROWS: Sizes = {"train": {"all_data": 1730}, "test": {"all_data": 117}}


class LearningRateAndBatchSize(ScalingLaw):
    """Learning rate, batch size (sequences), tokens and parameters to the final loss; one group."""

    features = ("lr", "bsz", "data_size", "non_embedding_param_size")
    targets = ("lm_loss",)
    max_parameters = 26
    sizes = ROWS
    partial_sizes = PARTIAL_ROWS

    def simulated(self) -> embedded.Tables:
        return embedded.lr_bsz(self.sizes)


EVALUATOR = LearningRateAndBatchSize
