"""Sums against differences of a set of integers (maximise C(A)).

C(A) = log(|A+A| / |A|) / log(|A-A| / |A|) for 2 to 512 integers in [-1000000, 1000000]. The counts
are exact and the score is the value computed from them; a claimed value must agree.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmark.artifact import Artifact, Plain
from benchmark.candidates import PythonConstruction, type_name
from benchmark.evaluator import Invalid, Score, Stage
from tasks.mathematics import pictures
from tasks.mathematics.returned import check_claim, claimed_number, split_tuple
from tasks.mathematics.sumset import integer_set, listed_sizes, sumset_sizes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST_SET = 512
CLAIM_TOLERANCE = 1e-9
CERTIFIED_DIGITS = 30


class SumsAndDifferences(PythonConstruction):
    """``run_code()`` returns ``(values, claimed C)`` or the values alone."""

    def convert(self, returned: Any) -> Artifact:
        """The distinct integers, and the claim where there is one."""
        values, rest = split_tuple(returned)
        elements: Plain = list(integer_set(values))
        claim = claimed_number(rest[0], "C(A)") if rest else None
        return Artifact(elements if claim is None else {"construction": elements, "claim": claim})

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        """Count sums and differences exactly and compare the claim, if any."""
        elements = stored_set(artifact)
        sums, differences = sumset_sizes(elements)
        value = c_value(len(elements), sums, differences)
        check_claim(artifact.get("claim"), value, CLAIM_TOLERANCE, "C(A)")
        metrics = {
            "c_value": value,
            "set_size": len(elements),
            "sumset_size": sums,
            "diffset_size": differences,
        }
        first, last = elements[0], elements[-1]
        places = 2 * (last - first) + 1
        feedback = (
            f"{len(elements)} integers from {first} to {last}; between the ends, "
            f"A+A lacks {places - sums} and A-A lacks {places - differences} of {places} integers"
        )
        return Score(value, value, metrics, feedback)

    def certify(self, artifact: Artifact) -> dict[str, str]:
        """The counts again, by listing all pairs, and C(A) to 30 digits."""
        elements = stored_set(artifact)
        sums, differences = listed_sizes(elements)
        if (sums, differences) != sumset_sizes(elements):
            raise ArithmeticError(f"listing all pairs gives other counts: {sums}, {differences}")
        size = len(elements)
        exact = Context(prec=CERTIFIED_DIGITS + 10)
        logs = [exact.ln(exact.divide(Decimal(n), Decimal(size))) for n in (sums, differences)]
        value = Context(prec=CERTIFIED_DIGITS).divide(*logs)
        return {
            "set_size": str(size),
            "sumset_size": str(sums),
            "diffset_size": str(differences),
            "c_value": f"log({sums}/{size}) / log({differences}/{size}) = {value}",
        }

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        """The set above the numbers of representations of its sums and differences."""
        pictures.draw_integers(stored_set(artifact), figure)


def stored_set(artifact: Artifact) -> list[int]:
    """The set in increasing order; raises :class:`Invalid` for a broken rule."""
    construction = artifact.construction
    if not isinstance(construction, list | np.ndarray):
        raise Invalid(f"the artifact's set has type {type_name(construction)}; expected a list")
    elements = integer_set(construction)
    if not 2 <= len(elements) <= LARGEST_SET:
        raise Invalid(f"{len(elements)} distinct integers; allowed are 2 to {LARGEST_SET}")
    return elements


def c_value(size: int, sums: int, differences: int) -> float:
    """C(A) from |A|, |A+A| and |A-A|; a set of two or more has more differences than elements."""
    return math.log(sums / size) / math.log(differences / size)


EVALUATOR = SumsAndDifferences
