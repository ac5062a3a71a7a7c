"""SWAPs that a router inserts to run 24 circuits on three devices (minimise those on q20).

A candidate is a routing policy, in Rust (a block of the router crate) or in Python (a file with
the same hooks). It routes in the sandbox; here its layouts and SWAPs are replayed and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from benchmark.artifact import Artifact
from benchmark.candidates import FileProgram
from benchmark.data import data_file
from benchmark.evaluator import Invalid, Sandbox, Score, Setup, Stage
from benchmark.sandbox.session import read_source
from benchmark.side_by_side import Named, Shown
from tasks.quantum_compilation.swap_reduction import archive, baselines, picture, reporting
from tasks.quantum_compilation.swap_reduction.building import build_router
from tasks.quantum_compilation.swap_reduction.embedded import embedded_suite, unseen_suite
from tasks.quantum_compilation.swap_reduction.routing import (
    PythonRouter,
    Router,
    RustRouter,
    Trials,
    facts,
    records,
    route_suite,
)
from tasks.quantum_compilation.swap_reduction.scoring import REPORTED_DEVICE, Tally, judge
from tasks.quantum_compilation.swap_reduction.suite import Suite, official_suite

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMPARABLE_TRIALS = "4x4"


class SwapReduction(FileProgram):
    """A failed case is charged the reference router's SWAPs and leaves no objective on q20."""

    stages = ("search", "report")
    # Below every score that traces of the largest allowed size could have.
    peer_failure: ClassVar[Mapping[str, float]] = {"combined_score": -1e9}

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.trials = Trials.parse(setup.options["trials"])

    @cached_property
    def suite(self) -> Suite:
        """The cases of the data variant."""
        if self.setup.variant == "embedded":
            return embedded_suite()
        circuits = data_file(self.setup, archive.ARCHIVE)
        return official_suite(lambda: archive.read_circuits(circuits))

    def build(self, program: Path, sandbox: Sandbox) -> Path:
        """The router with the candidate's Rust policy in it."""
        return build_router(read_source(program), sandbox)

    def produce(self, program: Path, sandbox: Sandbox, stage: Stage) -> Artifact:
        """Route the suite; for a report also a second time, and circuits that no search has."""
        suites = {"cases": self.suite}
        if stage == "report":
            suites |= {"repeat": self.suite, "unseen": unseen_suite()}
        router = self._router(program, sandbox)
        budget_s = getattr(sandbox, "limits", self.setup.task.limits).wall_s
        outcomes = {
            name: route_suite(router, suite, sandbox, budget_s) for name, suite in suites.items()
        }
        return Artifact(
            {name: records(found) for name, found in outcomes.items()},
            facts={name: facts(found) for name, found in outcomes.items()},
        )

    def _router(self, program: Path, sandbox: Sandbox) -> Router:
        hash_seed = self.setup.options["hash_seed"]
        if program.suffix == ".py":
            return PythonRouter(read_source(program), self.trials, hash_seed)
        return RustRouter(self.build(program, sandbox), self.trials, hash_seed)

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        """Replay every trace. Invalid when all cases failed or one is missing."""
        content = artifact.construction
        parts: Mapping[str, Any] = content if isinstance(content, dict) else {"cases": content}
        tally = judge(self.suite, parts.get("cases"))
        if len(tally.failed) == len(tally.results):
            first = tally.failed[0]
            raise Invalid(f"every case failed; {first.case.id}: {first.problem}")
        metrics = {**tally.metrics(), "combined_score": tally.combined_score}
        feedback = [reporting.summary(tally)]
        if stage == "report":
            for extra, said in self._report(tally, parts):
                metrics |= extra
                feedback += [said] if said else []
        return Score(
            search=tally.combined_score,
            objective=tally.on(REPORTED_DEVICE).swaps,
            metrics=metrics,
            feedback="\n".join(feedback),
            attachments=reporting.failures(tally),
            comparable=self._is_comparable(),
        )

    def _report(self, tally: Tally, parts: Mapping[str, Any]) -> list[tuple[dict[str, float], str]]:
        found = []
        if "repeat" in parts:
            found.append(reporting.determinism(tally, judge(self.suite, parts["repeat"]), parts))
        if "unseen" in parts:
            unseen = judge(unseen_suite(), parts["unseen"])
            found.append(reporting.generality(tally, unseen, self.setup.variant))
        return found

    def _is_comparable(self) -> bool:
        return (
            self.setup.variant == "official" and self.setup.options["trials"] == COMPARABLE_TRIALS
        )

    @property
    def baselines(self) -> Mapping[str, Callable[[str], Artifact]]:
        """Routers of others, by name: they take a number of trials and route the suite."""
        return {
            baselines.QISKIT_SABRE: lambda trials: baselines.qiskit_sabre(
                self.suite, Trials.parse(trials or COMPARABLE_TRIALS)
            )
        }

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        """A routed circuit, the device with its SWAPs, and SWAPs by circuit."""
        content: Any = artifact.construction
        found = content["cases"] if isinstance(content, dict) else content
        picture.draw(self.suite, judge(self.suite, found), found, figure)

    def draw_together(self, found: Sequence[Named], figure: Figure) -> Shown:
        """One small circuit as each router ran it, inserted SWAPs in colour."""
        from tasks.quantum_compilation.swap_reduction import picture_pair

        contents: list[Any] = [one.artifact.construction for one in found]
        routed = [
            (one.label, content["cases"] if isinstance(content, dict) else content)
            for one, content in zip(found, contents, strict=True)
        ]
        return picture_pair.draw(self.suite, routed, figure)


EVALUATOR = SwapReduction
