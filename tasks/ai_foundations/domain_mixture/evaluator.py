"""How the loss in five domains follows from the mixture of training data (maximise held-out R2).

Measurements: J. Ye et al., Data mixing laws, arXiv:2403.16952; held out are other mixtures.
"""

from __future__ import annotations

from tasks.ai_foundations import embedded
from tasks.ai_foundations.scaling_law import ScalingLaw
from tasks.ai_foundations.tables import Sizes

MODELS = ("70M", "160M", "305M", "410M")
ROWS: Sizes = {"train": dict.fromkeys(MODELS, 20), "test": dict.fromkeys(MODELS, 6)}


class DomainMixture(ScalingLaw):
    """Shares of five domains, which sum to 1, to the losses in the five; one law for each model."""

    features = tuple(f"proportion_domain_{domain}" for domain in range(1, 6))
    targets = tuple(f"loss_domain_{domain}" for domain in range(1, 6))
    max_parameters = 35
    sizes = ROWS

    def simulated(self) -> embedded.Tables:
        return embedded.domain_mixture(self.sizes)


EVALUATOR = DomainMixture
