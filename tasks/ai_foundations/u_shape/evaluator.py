"""How well models answer easy questions as compute grows, first worse (maximise held-out R2).

Measurements: T.-Y. Wu and P.-Y. Lo, U-shaped and inverted-U scaling behind emergent abilities of
large language models, arXiv:2410.01692; held out is more compute than any training row has.
"""

from __future__ import annotations

from tasks.ai_foundations import embedded
from tasks.ai_foundations.scaling_law import ScalingLaw
from tasks.ai_foundations.tables import Sizes

QUESTION_SETS = {  # training and held-out rows
    "abstract_narrative_understanding": (54, 3),
    "analogical_similarity": (47, 10),
    "arc": (54, 3),
    "arithmetic": (44, 14),
    "conceptual_combinations": (31, 26),
    "hellaswag": (54, 3),
    "hindu_knowledge": (19, 38),
    "mmlu": (32, 27),
    "parsinlu_qa_mc": (54, 3),
}
ROWS: Sizes = {
    "train": {name: train for name, (train, _) in QUESTION_SETS.items()},
    "test": {name: test for name, (_, test) in QUESTION_SETS.items()},
}


class UShape(ScalingLaw):
    """log10 of compute in units of 1e21 FLOPs to the negative Brier score (higher is better)."""

    features = ("log_flops",)
    targets = ("brier_score",)
    max_parameters = 6
    sizes = ROWS

    def simulated(self) -> embedded.Tables:
        return embedded.u_shape(self.sizes)


EVALUATOR = UShape
