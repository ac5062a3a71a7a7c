"""Cheapest cylindrical pressure vessel with two hemispherical heads (minimise the cost).

X.-S. Yang, C. Huyck, M. Karamanoglu, N. Khan, "True Global Optimality of the Pressure Vessel Design
Problem", Int. J. Bio-Inspired Computation 5(6) (2013) 329-335, arXiv:1403.7793. Lengths in inches.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from benchmark.artifact import Artifact, Plain
from benchmark.candidates import PayloadSolver
from benchmark.evaluator import Invalid, Score, Stage
from tasks.simple_science import answers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REFERENCE_COST = 6059.714335048436  # combined score 1; nothing valid is cheaper
TOLERANCE = 1e-9  # inches; relative for the volume, in grid steps for the thickness
STEP = 0.0625  # steel plates come in multiples of 1/16 inch
PLATES = (1, 99)
RADII = (10, 200)
LENGTHS = (10, 200)
LONGEST = 240
VOLUME = 1_296_000
SHELL_STRESS, HEAD_STRESS = 0.0193, 0.00954
COSTS = (0.6224, 1.7781, 3.1661, 19.84)


class Design(NamedTuple):
    """Thickness of the shell and of the heads, inner radius, length of the cylinder."""

    shell: float
    head: float
    radius: float
    length: float

    def cost(self) -> float:
        """Material, forming and welding."""
        d1, d2, r, length = self
        a, b, c, d = COSTS
        return a * d1 * r * length + b * d2 * r**2 + c * d1**2 * length + d * d1**2 * r

    def volume(self) -> float:
        """Inner volume of the cylinder and of the sphere that the two heads make."""
        return math.pi * self.radius**2 * self.length + 4 / 3 * math.pi * self.radius**3

    def margins(self) -> dict[str, float]:
        """What is left of the three design rules: inches, inches, part of the needed volume."""
        return {
            "shell_margin": self.shell - SHELL_STRESS * self.radius,
            "head_margin": self.head - HEAD_STRESS * self.radius,
            "volume_margin": (self.volume() - VOLUME) / VOLUME,
        }


class PressureVessel(PayloadSolver):
    """``solve`` returns ``[shell, head, radius, length]``."""

    def payload(self) -> dict[str, Plain]:
        return {
            "thickness_step": STEP,
            "thickness_index_bounds": list(PLATES),
            "radius_bounds": list(RADII),
            "length_bounds": list(LENGTHS),
            "length_constraint_upper": LONGEST,
            "minimum_volume": VOLUME,
            "stress_coefficients": [SHELL_STRESS, HEAD_STRESS],
            "cost_coefficients": list(COSTS),
        }

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        design = valid_design(artifact)
        cost = design.cost()
        combined = min(1.0, REFERENCE_COST / cost)
        margins = design.margins()
        feedback = (
            f"cost {cost:.6f}; to spare: shell {margins['shell_margin']:.6f} in, "
            f"head {margins['head_margin']:.6f} in, "
            f"volume {margins['volume_margin']:.3e} of the minimum"
        )
        return Score(combined, combined, {"cost": cost, **margins}, feedback)

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        from tasks.simple_science.pressure_vessel import sketch

        sketch.draw(valid_design(artifact), figure)


def valid_design(artifact: Artifact) -> Design:
    """The design, nothing rounded or repaired; raises :class:`Invalid` naming the broken rule."""
    design = Design(*answers.numbers(answers.answer(artifact), 4, "the answer"))
    for name, value in design._asdict().items():
        if value <= 0:
            raise Invalid(f"{name} must be positive; got {value:g}")
    for residuals in (_box(design), _grid(design), _rules(design)):  # volume only inside the box
        for rule, excess in residuals:
            if excess > TOLERANCE:
                raise Invalid(f"{rule}: broken by {excess:.3g}, allowed is {TOLERANCE:.0e}")
    return design


def _box(design: Design) -> Iterator[tuple[str, float]]:
    plates = (STEP * PLATES[0], STEP * PLATES[1])
    for name, (low, high) in zip(Design._fields, (plates, plates, RADII, LENGTHS), strict=True):
        value = getattr(design, name)
        yield f"{name} >= {low} in", low - value
        yield f"{name} <= {high} in", value - high


def _grid(design: Design) -> Iterator[tuple[str, float]]:
    for name, thickness in (("shell", design.shell), ("head", design.head)):
        steps = thickness / STEP
        yield f"{name} must be a multiple of {STEP} in", abs(steps - round(steps))


def _rules(design: Design) -> Iterator[tuple[str, float]]:
    yield f"shell >= {SHELL_STRESS} radius", SHELL_STRESS * design.radius - design.shell
    yield f"head >= {HEAD_STRESS} radius", HEAD_STRESS * design.radius - design.head
    yield f"volume >= {VOLUME} in^3 (relative)", (VOLUME - design.volume()) / VOLUME
    yield f"length <= {LONGEST} in", design.length - LONGEST


EVALUATOR = PressureVessel
