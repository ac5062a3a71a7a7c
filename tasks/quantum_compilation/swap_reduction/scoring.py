"""From traces to the search score: replay each case, count, weigh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from benchmark.evaluator import Invalid
from tasks.quantum_compilation.replay import CNOTS_PER_SWAP, Verdict, check_swap_trace
from tasks.quantum_compilation.swap_reduction.suite import RoutingCase, Suite

REPORTED_DEVICE = "q20"


@dataclass(frozen=True)
class CaseResult:
    """One case: the replay's verdict, or why there was nothing to replay."""

    case: RoutingCase
    verdict: Verdict | None
    error: str = ""

    @property
    def swaps(self) -> int | None:
        """SWAPs of a valid trace."""
        return self.verdict.swap_count if self.verdict is not None else None

    @property
    def cnot_added(self) -> int:
        """CNOTs that the SWAPs cost; a failed case counts as the reference router's."""
        return self.case.orig_cnot if self.swaps is None else CNOTS_PER_SWAP * self.swaps

    @property
    def cnot_delta(self) -> int:
        """CNOTs saved compared with the reference router; 0 for a failed case."""
        return self.case.orig_cnot - self.cnot_added

    @property
    def problem(self) -> str:
        """Why the case failed, in a few words; empty for a valid one."""
        if self.verdict is None:
            return self.error
        return "" if self.verdict.valid else f"{self.verdict.reason}: {self.verdict.detail}"


@dataclass(frozen=True)
class Tally:
    """All cases of a suite."""

    results: Sequence[CaseResult]

    @property
    def failed(self) -> list[CaseResult]:
        """Cases without a valid trace."""
        return [result for result in self.results if result.swaps is None]

    def on(self, device: str) -> Tally:
        """The cases of one device."""
        return Tally([result for result in self.results if result.case.topology == device])

    @property
    def swaps(self) -> int | None:
        """All SWAPs; ``None`` when a case failed."""
        counts = [result.swaps for result in self.results]
        return None if None in counts else sum(filter(None, counts))

    @property
    def cnot_added(self) -> int:
        """CNOTs added, failed cases at the reference's count."""
        return sum(result.cnot_added for result in self.results)

    @property
    def combined_score(self) -> float:
        """Weighted sum of the CNOTs saved; exact until the last rounding."""
        return float(sum((r.case.weight * r.cnot_delta for r in self.results), Fraction(0)))

    def metrics(self) -> dict[str, float]:
        """Counts by device and in all; SWAPs are absent where a case failed."""
        found: dict[str, float] = {}
        devices = dict.fromkeys(result.case.topology for result in self.results)
        for name, part in {**{d: self.on(d) for d in devices}, "total": self}.items():
            if part.swaps is not None:
                found[f"{name}_swaps"] = part.swaps
            found[f"{name}_cnot_added"] = part.cnot_added
            found[f"{name}_cnot_delta"] = sum(result.cnot_delta for result in part.results)
        reported = self.on(REPORTED_DEVICE)
        if reported.results:
            name = f"{REPORTED_DEVICE}_swaps_failed_at_baseline"
            found[name] = reported.cnot_added / CNOTS_PER_SWAP
        found["cases"] = len(self.results)
        found["cases_failed"] = len(self.failed)
        return found


def judge(suite: Suite, records: Any) -> Tally:
    """Replay untrusted records (one for each case, in any order).

    Raises :class:`Invalid` unless there is exactly one record for each case.
    """
    by_id = _by_id(records)
    wanted = {case.id for case in suite.cases}
    if by_id.keys() != wanted:
        unknown, missing = sorted(by_id.keys() - wanted), sorted(wanted - by_id.keys())
        names = ", ".join((unknown or missing)[:3])
        raise Invalid(f"{'unknown' if unknown else 'missing'} cases: {names}")
    dependencies = suite.dependencies()
    results = []
    for case in suite.cases:
        record = by_id[case.id]
        if "error" in record:
            results.append(CaseResult(case, None, str(record["error"])[:300]))
            continue
        circuit, topology = suite.parts(case)
        verdict = check_swap_trace(
            circuit,
            topology,
            record.get("initial_layout"),
            record.get("swaps"),
            dependencies[case.circuit],
        )
        results.append(CaseResult(case, verdict))
    return Tally(results)


def _by_id(records: Any) -> dict[str, Mapping[str, Any]]:
    if not isinstance(records, list):
        raise Invalid("the cases must be a list of records")
    by_id: dict[str, Mapping[str, Any]] = {}
    for record in records:
        if not isinstance(record, dict) or not isinstance(record.get("id"), str):
            raise Invalid('every record must be an object with an "id"')
        if record["id"] in by_id:
            raise Invalid(f"case {record['id']} has two records")
        by_id[record["id"]] = record
    return by_id
