"""The evaluator of all five tours: total delta-v of a multiple-gravity-assist trajectory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmark.artifact import Artifact
from benchmark.evaluator import Call, Evaluator, Invalid, Sandbox, Score, Setup, Stage
from benchmark.sandbox.session import read_source
from benchmark.side_by_side import Named, Shown
from tasks.astrodynamics.flight import Flight, fly
from tasks.astrodynamics.kernels import kernel_for
from tasks.astrodynamics.mission import read_mission
from tasks.astrodynamics.trajectory import parse, plain_trajectory

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HERE = Path(__file__).parent
BOARDING = _HERE / "boarding.py"
TOOLS = _HERE / "tools"

MAX_DIAGNOSTICS = 3000  # characters
USES_TOLERANCE_KM = 1.0
USES_TOLERANCE_KMS = 1e-5

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Tour(Evaluator):
    """A Python file whose ``run_code()`` returns the nodes of a trajectory.

    The artifact is the list of nodes, or ``{"trajectory": nodes, "diagnostics": text}`` when the
    program took notes. Each task is this evaluator on its own ``data/problem.json``.
    """

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.mission = read_mission(setup.task.folder)
        self.kernel = kernel_for(setup)

    def produce(self, program: Path, sandbox: Sandbox, stage: Stage) -> Artifact:
        """Run the candidate with the tools and the kernel in sight, and nothing else of ours."""
        source = read_source(program)
        call = Call("fly", [source, dict(self.mission.problem), str(self.kernel.path)])
        (answer,) = sandbox.call(BOARDING, [call], visible=[TOOLS, self.kernel.path])
        if not isinstance(answer, dict) or "returned" not in answer:
            raise Invalid("the program defines no function run_code()")
        notes = _clean(answer.get("diagnostics"))
        try:
            trajectory = plain_trajectory(answer["returned"])
        except Invalid as failure:
            raise Invalid(str(failure), attachments=self._attachments(notes)) from None
        return Artifact({"trajectory": trajectory, "diagnostics": notes} if notes else trajectory)

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        """Total delta-v in km/s; the search score is 2T / (T + delta-v) with the target T."""
        trajectory, notes = _content(artifact)
        try:
            flight = fly(parse(trajectory, self.mission), self.mission, self.kernel.ephemeris)
        except Invalid as failure:
            raise Invalid(str(failure), attachments=self._attachments(notes)) from None
        target = self.mission.target_dv
        return Score(
            search=2.0 * target / (target + max(flight.total_dv, 0.0)),
            objective=flight.total_dv,
            metrics=self._metrics(flight),
            feedback=self._feedback(flight),
            attachments={"nodes": node_table(flight), **self._attachments(notes)},
        )

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        """The tour in the ecliptic plane and its delta-v budget."""
        from tasks.astrodynamics.picture import draw_tour

        trajectory, _ = _content(artifact)
        flight = fly(parse(trajectory, self.mission), self.mission, self.kernel.ephemeris)
        name = self.setup.task.declared.title
        title = f"{name}. Total {flight.total_dv:.6f} km/s ({self.kernel.label})"
        draw_tour(flight, self.mission, self.kernel.ephemeris, title, figure)

    def draw_together(self, found: Sequence[Named], figure: Figure) -> Shown:
        """Lists of events, and the budgets as bars."""
        from tasks.astrodynamics import tour_pair

        flights = []
        for one in found:
            trajectory, _ = _content(one.artifact)
            nodes = parse(trajectory, self.mission)
            flights.append((one.label, fly(nodes, self.mission, self.kernel.ephemeris)))
        title = f"{self.setup.task.declared.title} ({self.kernel.label})"
        return tour_pair.draw(flights, title, figure)

    def _metrics(self, flight: Flight) -> dict[str, float]:
        residuals = flight.residuals
        metrics = {
            "start_dv": flight.start_dv,
            "end_dv": flight.end_dv,
            "ga_dv": flight.flyby_dv,
            "dsm_dv": flight.manoeuvre_dv,
            "num_GA": float(len(flight.flybys)),
            "num_DSM": float(len(flight.manoeuvres)),
            "duration_days": flight.duration_days,
            "max_planet_pos_residual_km": residuals.planet_km,
            "max_segment_pos_residual_km": residuals.segment_km,
            "max_segment_vel_residual_kms": residuals.segment_kms,
            "max_reference_velocity_residual_kms": residuals.reference_kms,
            "uses_tolerance": float(not residuals.within(USES_TOLERANCE_KM, USES_TOLERANCE_KMS)),
            "stacked_flyby": float(flight.stacked),
        }
        if self._is_strict(flight):
            metrics["strict_dv"] = flight.total_dv
        return metrics

    def _is_strict(self, flight: Flight) -> bool:
        options = self.setup.options
        return not flight.stacked and flight.residuals.within(
            options["strict_position_km"], options["strict_velocity_kms"]
        )

    def _feedback(self, flight: Flight) -> str:
        parts = {
            "start": flight.start_dv,
            "flybys": flight.flyby_dv,
            "DSMs": flight.manoeuvre_dv,
            "end": flight.end_dv,
        }
        budget = ", ".join(f"{name} {dv:.6f}" for name, dv in parts.items())
        route = "-".join(node.place for node in flight.nodes)
        text = (
            f"Total delta-v {flight.total_dv:.6f} km/s under {self.kernel.label} ({budget}); "
            f"{route} in {flight.duration_days:.1f} days."
        )
        if not self._is_strict(flight):
            text += " Uses the tolerances or stacked flybys: no strict_dv."
        return text

    def _attachments(self, notes: str) -> dict[str, str]:
        found = {"ephemeris": self.kernel.description}
        return {**found, "diagnostics": notes} if notes else found


def node_table(flight: Flight) -> str:
    """One line for each node: index, type and place, epoch, delta-v, altitude of a flyby."""
    altitudes = {flyby.node: f", altitude {flyby.altitude_km:.1f} km" for flyby in flight.flybys}
    return "\n".join(
        f"{index} {node.label} MJD {node.time:.6f}, dv {dv:.6f} km/s" + altitudes.get(index, "")
        for index, (node, dv) in enumerate(zip(flight.nodes, flight.node_dv, strict=True))
    )


def _content(artifact: Artifact) -> tuple[Any, str]:
    """Nodes and notes of an artifact in any of its forms."""
    data = artifact.construction
    if isinstance(data, dict) and "trajectory" in data and data.keys() <= _FIELDS:
        return data["trajectory"], _clean(data.get("diagnostics"))
    return data, ""


_FIELDS = {"trajectory", "diagnostics"}


def _clean(notes: Any) -> str:
    """A candidate's notes: bounded text without control characters, empty for anything else.

    A heading of ours keeps a note such as "NaN" from passing for a number in a stored artifact.
    """
    if not isinstance(notes, str):
        return ""
    text = _CONTROL.sub("", notes).removeprefix(_HEADING).strip()[:MAX_DIAGNOSTICS]
    return _HEADING + text if text else ""


_HEADING = "Notes of the program:\n"
