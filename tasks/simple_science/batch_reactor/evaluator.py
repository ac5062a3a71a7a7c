"""Temperature profile of a batch reactor (maximise the intermediate product B at the end)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmark.artifact import Artifact, Plain
from benchmark.candidates import PayloadSolver
from benchmark.evaluator import Invalid, Score, Stage
from tasks.simple_science import answers
from tasks.simple_science.batch_reactor import kinetics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BOUNDS = (298, 398)  # kelvin, closed, without tolerance


class BatchReactor(PayloadSolver):
    """``solve`` returns ``{"temperature": [501 numbers]}``, one for each time of the payload."""

    score_in_process = True

    def payload(self) -> dict[str, Plain]:
        return {
            "time": kinetics.TIMES.tolist(),
            "initial_state": list(kinetics.INITIAL),
            "temperature_bounds": list(BOUNDS),
            "interpolation": "piecewise_linear",
            "kinetics": {
                "k1_prefactor": kinetics.K1_PREFACTOR,
                "k1_activation_over_R": kinetics.K1_ACTIVATION,
                "k2_prefactor": kinetics.K2_PREFACTOR,
                "k2_activation_over_R": kinetics.K2_ACTIVATION,
            },
        }

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        a, b, c = map(float, kinetics.concentrations(valid_profile(artifact))[-1])
        feedback = f"at the end A {a:.6f} (not yet converted), B {b:.6f}, C {c:.6f} (lost)"
        return Score(b, b, {"final_a": a, "final_b": b, "final_c": c}, feedback)

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        profile = valid_profile(artifact)
        states = kinetics.concentrations(profile)
        above, below = figure.subplots(2, 1, sharex=True)
        above.plot(kinetics.TIMES, profile, color="tab:red")
        for bound in BOUNDS:
            above.axhline(bound, color="tab:gray", linewidth=0.8, linestyle="--")
        above.set(ylabel="temperature (K)", title=f"B(1) = {states[-1, 1]:.6f}")
        for name, column in zip("ABC", states.T, strict=True):
            below.plot(kinetics.TIMES, column, label=name, linewidth=2.5 if name == "B" else 1.2)
        below.set(xlabel="time", ylabel="concentration", xlim=(0, 1), ylim=(0, 1.02))
        below.legend(loc="upper center", ncols=3)


def valid_profile(artifact: Artifact) -> list[float]:
    """The temperatures; raises :class:`Invalid`."""
    (profile,) = answers.fields(answers.answer(artifact), "temperature")
    values = answers.numbers(profile, len(kinetics.TIMES), "temperature")
    low, high = BOUNDS
    for index, value in enumerate(values):
        if not low <= value <= high:
            raise Invalid(f"entry {index} of temperature is {value!r} K, outside [{low}, {high}]")
    return values


EVALUATOR = BatchReactor
