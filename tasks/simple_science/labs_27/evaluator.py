"""Low autocorrelation binary sequence of length 27 (minimise the energy).

CSPLib problem 005; T. Packebusch, S. Mertens, J. Phys. A 49 (2016) 165001, arXiv:1512.02475.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmark.artifact import Artifact, Plain
from benchmark.candidates import PayloadSolver
from benchmark.evaluator import Invalid, Score, Stage
from tasks.simple_science import answers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N = 27
REFERENCE_ENERGY = 37  # combined score 1; exhaustive search finds nothing lower


class LowAutocorrelation(PayloadSolver):
    """``solve`` returns 27 numbers, each -1 or +1."""

    def payload(self) -> dict[str, Plain]:
        return {"n": N}

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        correlations = autocorrelations(valid_sequence(artifact))
        energy = sum(value**2 for value in correlations)
        combined = min(1.0, REFERENCE_ENERGY / energy)
        merit = N**2 / (2 * energy)
        worst = max(range(N - 1), key=lambda index: abs(correlations[index]))
        feedback = (
            f"energy {energy}, merit factor {merit:.4f}; "
            f"largest autocorrelation {correlations[worst]} at lag {worst + 1}"
        )
        return Score(combined, combined, {"energy": float(energy), "merit_factor": merit}, feedback)

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        sequence = valid_sequence(artifact)
        correlations = autocorrelations(sequence)
        energy = sum(value**2 for value in correlations)
        above, below = figure.subplots(2, 1)
        colours = ["tab:blue" if sign > 0 else "tab:orange" for sign in sequence]
        above.bar(range(1, N + 1), sequence, width=0.9, color=colours)
        above.axhline(0, color="black", linewidth=0.8)
        above.set(title=f"energy {energy}", xlabel="position", ylabel="sign", yticks=(-1, 1))
        below.bar(range(1, N), correlations, width=0.5, color="tab:gray")
        below.axhline(0, color="black", linewidth=0.8)
        below.set(xlabel="lag", ylabel="autocorrelation")
        for axes in (above, below):
            axes.set_xlim(0.2, N + 0.8)


def autocorrelations(sequence: Sequence[int]) -> list[int]:
    """Aperiodic autocorrelations at the lags 1 to n - 1."""
    n = len(sequence)
    return [sum(sequence[i] * sequence[i + lag] for i in range(n - lag)) for lag in range(1, n)]


def valid_sequence(artifact: Artifact) -> list[int]:
    """The signs as integers; raises :class:`Invalid` for anything but -1 and +1."""
    values = answers.numbers(answers.answer(artifact), N, "the answer")
    for index, value in enumerate(values):
        if value not in (-1, 1):
            raise Invalid(f"entry {index} of the answer must be -1 or +1; got {value:g}")
    return [int(value) for value in values]


EVALUATOR = LowAutocorrelation
