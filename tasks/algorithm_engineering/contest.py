"""What the two contests share: build the program, run it on 150 inputs, add up the case scores.

A run's total is the sum of its case scores if every case is valid, else 0. The artifact is a list
of ``{"seed", "stdout"}``; a case that failed has ``stdout`` null. The official cases are the seeds
0 to 149; stage ``report`` runs the program on 1000 to 1149, which no program can have memorised.
"""

from __future__ import annotations

import os
import threading
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from benchmark.artifact import Artifact
from benchmark.candidates import FileProgram
from benchmark.evaluator import Invalid, Sandbox, Score, Setup, Stage, Unavailable
from tasks.algorithm_engineering import building
from tasks.algorithm_engineering.cases import (
    CaseScore,
    WrongAnswer,
    artifact_cases,
    artifact_entry,
    case_table,
    failure_reasons,
    is_text,
    nothing_valid,
    run_feedback,
    run_metrics,
    run_total,
)
from tasks.algorithm_engineering.inputs import HELD_OUT_SEEDS, OFFICIAL_SEEDS, Inputs
from tasks.algorithm_engineering.running import (
    MAX_OUTPUT_MB,
    CaseRun,
    Contestant,
    Profile,
    run_all,
)
from tasks.algorithm_engineering.source import cpp_source

SEEDS: dict[Stage, range] = {"search": OFFICIAL_SEEDS, "report": HELD_OUT_SEEDS}
SUSPICION = 1.01
"""A ratio of public to held-out total so far above an honest one's hints at memorised inputs."""

NATIVE = Path(__file__).parent / "native"


class Contest(FileProgram):
    """A C++ program that reads one input from stdin and writes its answer to stdout."""

    stages = ("search", "report")
    failed_repeat = 0.0

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        task = setup.task
        self.inputs = Inputs(task.name, self.generate, task.folder / "data/input_hashes.json")
        self.profile = Profile.choose(setup.options["limits"], setup.options["clock"])

    public_per_held_out: ClassVar[float]
    """Largest ratio of the totals on the two sets of inputs that honest programs were seen with."""

    @staticmethod
    @abstractmethod
    def generate(seed: int) -> bytes:
        """The input file of a seed."""

    @abstractmethod
    def judge(self, seeds: Sequence[int], outputs: Sequence[str]) -> list[int | WrongAnswer]:
        """The official score of each case; ``outputs`` are texts that UTF-8 can hold."""

    def build(self, program: Path, sandbox: Sandbox) -> Path:
        """Compile the candidate, or find it compiled; raises ``BuildFailed``."""
        return building.build_candidate(cpp_source(program), sandbox)

    def produce(self, program: Path, sandbox: Sandbox, stage: Stage) -> Artifact:
        """Build once, run every case of the stage, note what each used."""
        return self.run(program, sandbox, SEEDS[stage])

    def run(self, program: Path, sandbox: Sandbox, seeds: Sequence[int]) -> Artifact:
        """The outputs of a program on the inputs of ``seeds``."""
        contestant = Contestant(
            executable=self.build(program, sandbox),
            starter=building.build_native(NATIVE / "starter.c", (), sandbox),
            shim=building.build_native(NATIVE / "clock.c", ("-shared", "-fPIC"), sandbox)
            if self.profile.shim
            else None,
        )
        budget = _Budget(MAX_OUTPUT_MB << 20)

        def run_case(seed: int) -> CaseRun:
            result = contestant.run(seed, self.inputs.text(seed), sandbox, self.profile)
            budget.spend(len(result.stdout or b""))
            return result

        cores = sorted(os.sched_getaffinity(0))
        runs = run_all(run_case, seeds, cores[: self.profile.workers(len(cores))])
        return Artifact([artifact_entry(case) for case in runs], facts=self._facts(runs))

    def _facts(self, runs: Sequence[CaseRun]) -> dict[str, Any]:
        return {
            "compiler": building.compiler()[1],
            "flags": " ".join(building.contest_flags()[0]),
            "clock": self.setup.options["clock"],
            "limits": self.setup.options["limits"],
            "cpu_limit_s": self.profile.cpu_s,
            "wall_limit_s": self.profile.wall_s,
            "memory_limit_mb": self.profile.memory_mb,
            "cases": [run.facts() for run in runs],
        }

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        """The total over the artifact's cases; raises a failure when no case is valid."""
        cases = self.case_scores(artifact)
        seeds = sorted(case.seed for case in cases)
        held_out = stage == "report" and seeds == list(HELD_OUT_SEEDS)
        if not held_out and all(case.score is None for case in cases):
            raise nothing_valid(cases)
        if held_out:
            return self._held_out_score(cases)
        total = float(run_total(cases))
        return Score(
            search=total,
            objective=total,
            metrics=run_metrics(cases),
            feedback=run_feedback(cases),
            attachments={"cases": case_table(cases)},
            comparable=seeds == list(OFFICIAL_SEEDS),
        )

    def _held_out_score(self, cases: Sequence[CaseScore]) -> Score:
        """Metrics alone: the objective is that of the official cases."""
        metrics = {f"held_out_{name}": value for name, value in run_metrics(cases).items()}
        limit = run_total(cases) * self.public_per_held_out * SUSPICION
        return Score(
            search=None,
            objective=None,
            metrics={**metrics, "held_out_honest_limit": limit},
            feedback=f"held-out inputs: {run_feedback(cases)}. A total of more than {limit:.0f} on "
            "the public inputs would look memorised",
            attachments={"held_out_cases": case_table(cases)},
        )

    def case_scores(self, artifact: Artifact) -> list[CaseScore]:
        """Official score or reason for each case; raises :class:`Invalid` for another form."""
        entries = artifact_cases(artifact.data)
        reasons = failure_reasons(artifact)
        answered = [(seed, text) for seed, text in entries if text is not None and is_text(text)]
        judged = iter(self.judge([seed for seed, _ in answered], [text for _, text in answered]))
        scores = []
        for seed, text in entries:
            if text is None:
                scores.append(CaseScore(seed, None, reasons.get(seed, "gave no output")))
            elif not is_text(text):
                scores.append(CaseScore(seed, None, "WA: the output is not UTF-8 text"))
            else:
                scores.append(_case_score(seed, next(judged)))
        return scores

    def first_valid(self, artifact: Artifact) -> tuple[int, str]:
        """Seed and output of the first valid case; raises :class:`Unavailable` without any."""
        texts = artifact_cases(artifact.data)
        for case, (seed, text) in zip(self.case_scores(artifact), texts, strict=True):
            if case.score is not None and text is not None:
                return seed, text
        raise Unavailable("no case is valid: there is nothing to draw")


class _Budget:
    """Bytes of output that all cases together may keep."""

    def __init__(self, size: int) -> None:
        self._lock = threading.Lock()
        self._size = size
        self._left = size

    def spend(self, amount: int) -> None:
        with self._lock:
            self._left -= amount
            if self._left < 0:
                raise Invalid(f"printed more than {self._size >> 20} MB over all cases")


def _case_score(seed: int, found: int | WrongAnswer) -> CaseScore:
    if isinstance(found, WrongAnswer):
        return CaseScore(seed, None, f"WA: {found}")
    return CaseScore(seed, found)
