"""Cases of a run: the artifact that holds their outputs, their scores, the run's total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.artifact import Artifact
from benchmark.evaluator import Crashed, Failure, Invalid, OutOfMemory, TimedOut
from tasks.algorithm_engineering.running import CaseRun

MAX_CASES = 1000
SHOWN_CASES = 5


class WrongAnswer(Exception):
    """The output breaks a rule of the contest; ``str`` says which."""


@dataclass(frozen=True)
class CaseScore:
    """A case's official score, or ``None`` with the reason why it has none."""

    seed: int
    score: int | None
    reason: str = ""


def artifact_entry(case: CaseRun) -> dict[str, Any]:
    """A case as it stands in the artifact."""
    # What is not UTF-8 must stay recognisable: it makes the case invalid.
    text = None if case.stdout is None else case.stdout.decode("utf-8", errors="surrogateescape")
    return {"seed": case.seed, "stdout": text}


def is_text(text: str) -> bool:
    """False for an output that was not UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def artifact_cases(data: Any) -> list[tuple[int, str | None]]:
    """Seed and output of each case; raises :class:`Invalid` for another form of artifact."""
    form = 'an artifact of this task is a list of {"seed": integer, "stdout": text or null}'
    if not isinstance(data, list) or not 0 < len(data) <= MAX_CASES:
        raise Invalid(f"{form}, of 1 to {MAX_CASES} cases")
    found = []
    for entry in data:
        if not isinstance(entry, dict) or entry.keys() != {"seed", "stdout"}:
            raise Invalid(form)
        seed, text = entry["seed"], entry["stdout"]
        if type(seed) is not int or not 0 <= seed < 2**64:
            raise Invalid("a seed is an integer in 0 .. 2^64 - 1")
        if text is not None and not isinstance(text, str):
            raise Invalid(form)
        found.append((seed, text))
    return found


def failure_reasons(artifact: Artifact) -> dict[int, str]:
    """Why cases have no output, as the harness saw it; a stored artifact does not tell."""
    facts = artifact.facts.get("cases", [])
    return {case["seed"]: f"{case['verdict']}: {case['reason']}" for case in facts}


def run_total(cases: Sequence[CaseScore]) -> int:
    """Sum of the case scores; 0 if any case failed."""
    scores = [case.score for case in cases if case.score is not None]
    return sum(scores) if len(scores) == len(cases) else 0


def run_metrics(cases: Sequence[CaseScore]) -> dict[str, float]:
    """The total and how it came about, also where it is 0."""
    scores = [case.score for case in cases if case.score is not None]
    metrics = {
        "total": float(run_total(cases)),
        "valid_cases": float(len(scores)),
        "failed_cases": float(len(cases) - len(scores)),
    }
    if scores:
        metrics["mean_valid_case"] = sum(scores) / len(scores)
        metrics["lowest_valid_case"] = float(min(scores))
    return metrics


def run_feedback(cases: Sequence[CaseScore]) -> str:
    """How the run went, in a line or two."""
    scored = [case for case in cases if case.score is not None]
    failed = [case for case in cases if case.score is None]
    text = f"{len(scored)} of {len(cases)} cases valid"
    if scored:
        lowest = min(scored, key=lambda case: case.score or 0)
        mean = sum(case.score or 0 for case in scored) / len(scored)
        text += f", mean {mean:.1f}, lowest {lowest.score} (seed {lowest.seed})"
    if failed:
        shown = "; ".join(f"seed {case.seed}: {case.reason}" for case in failed[:SHOWN_CASES])
        text += f". One failed case makes the total 0. {shown}"
        text += "; ..." if len(failed) > SHOWN_CASES else ""
    return text


def case_table(cases: Sequence[CaseScore]) -> str:
    """A line for each case: its score, or why it has none."""
    rows = (f"{case.seed} {case.reason if case.score is None else case.score}" for case in cases)
    return "\n".join(("seed score", *rows))


_FAILURES: dict[str, type[Failure]] = {"TLE": TimedOut, "MLE": OutOfMemory, "RE": Crashed}


def nothing_valid(cases: Sequence[CaseScore]) -> Failure:
    """The failure of a run without any valid case, named after its first."""
    first = cases[0]
    failure = _FAILURES.get(first.reason.partition(":")[0], Invalid)
    reason = first.reason if len(cases) == 1 else f"no case is valid; the first: {first.reason}"
    return failure(reason, attachments={"cases": case_table(cases)})
