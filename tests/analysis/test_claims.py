"""Numbers of the paper's running text that follow from its tables, against what is computed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from analysis.binning import bins
from analysis.comparison import by_domain, by_setting, domain_summaries, pairs, summary
from analysis.oracle_study import changes, nearly_solved, overall_oracle, overall_parallel
from analysis.published import Published, default_folder
from analysis.records import derived

LUNA, GEMINI, QWEN = "GPT-5.6-Luna", "Gemini-3.8-Flash", "Qwen3.5-9B"
ORACLE = "OpenEvolve+Oracle"


@cache
def published() -> Published:
    return Published(default_folder())


def setting(model: str, n: int, name: str) -> float:
    rows = by_setting(pairs(published()))
    return float(next(getattr(r, name) for r in rows if (r.model, r.n) == (model, n)))


def domain(title: str, name: str) -> float:
    rows = domain_summaries(by_domain(pairs(published())))
    return float(next(getattr(row, name) for row in rows if row.domain == title))


def maths(model: str, n: int) -> float:
    rows = by_domain(pairs(published()))
    return next(r.delta for r in rows if (r.domain, r.model, r.n) == ("Mathematics", model, n))


def median(lo: float) -> float | None:
    points = [(pair.baseline, pair.gain) for pair in pairs(published())]
    return next(row.median for row in bins(points) if row.lo == lo)


def oracle(model: str, name: str) -> float:
    rows = overall_oracle(published().oracle)
    return float(next(getattr(row, name) for row in rows if row.model == model))


def parallel(model: str, method: str) -> float:
    rows = overall_parallel(published().parallel)
    return next(r.delta_mean for r in rows if (r.model, r.method) == (model, method))


def degraded(model: str) -> int:
    return next(row.degraded for row in changes(published().oracle) if row.model == model)


def point(key: str) -> float | int | None:
    return summary(pairs(published()))[key]


def record(key: str) -> float | int | None:
    return derived(published())[key]


FOLLOWS: dict[str, Callable[[], float | int | None]] = {
    "C001": lambda: setting(LUNA, 1, "baseline"),
    "C002": lambda: setting(LUNA, 1, "evoduet"),
    "C003": lambda: setting(GEMINI, 1, "baseline"),
    "C004": lambda: setting(GEMINI, 1, "evoduet"),
    "C005": lambda: setting(LUNA, 1, "delta"),
    "C006": lambda: setting(GEMINI, 1, "delta"),
    "C008": lambda: setting(QWEN, 8, "delta"),
    "C009": lambda: record("n_records"),
    "C010": lambda: record("n_ties"),
    "C012": lambda: oracle(QWEN, "delta_mean"),
    "C013": lambda: oracle(LUNA, "delta_mean"),
    "C019": lambda: record("swap_reduction_pct"),
    "C021": lambda: record("denoising_cost_ratio"),
    "C028": lambda: next(
        row.n_tasks for row in nearly_solved(published().oracle) if row.model == LUNA
    ),
    "C029": lambda: next(
        row.mean_change for row in nearly_solved(published().oracle) if row.model == LUNA
    ),
    "C032": lambda: degraded(QWEN),
    "C033": lambda: degraded(LUNA),
    "C055": lambda: domain("Mathematics", "n_up"),
    "C056": lambda: domain("Mathematics", "mean_delta"),
    "C058": lambda: maths(GEMINI, 8),
    "C059": lambda: record("n_record_domains"),
    "C060": lambda: record("mean_cost_usd"),
    "C065": lambda: point("n"),
    "C066": lambda: median(5),
    "C067": lambda: median(20),
    "C069": lambda: median(60),
    "C070": lambda: median(80),
    "C072": lambda: point("n_ge95"),
    "C073": lambda: point("n_ge95_drop_gt5"),
    "C074": lambda: point("n_lt5"),
    "C075": lambda: point("n_lt5_raised"),
    "C076": lambda: point("median_raised"),
    "C077": lambda: point("pearson_r"),
    "C096": lambda: record("gate_advantage_denoising"),
    "C098": lambda: record("denoising_record_ndg"),
    "C122": lambda: parallel(LUNA, ORACLE),
    "C123": lambda: parallel(LUNA, "OpenEvolve"),
    "C124": lambda: parallel(QWEN, ORACLE),
    "C125": lambda: parallel(QWEN, "OpenEvolve"),
    "C217": lambda: domain("Algorithm engineering", "n_down"),
    "C226": lambda: record("rosetta_reduction_pct"),
}

MISSED: dict[str, tuple[Callable[[], float | int | None], float]] = {
    # Printed numbers that the printed tables do not give, and by how much (results/published).
    "C007": (lambda: setting(QWEN, 1, "delta"), 0.13),
    "C057": (lambda: maths(QWEN, 8), 0.15),
    "C068": (lambda: median(40), 1.24),
    "C216": (lambda: domain("Algorithm engineering", "mean_delta"), 0.013),
}


@pytest.mark.parametrize("claim", FOLLOWS)
def test_claims_follow_from_the_tables(claim: str) -> None:
    row = published().claims[claim]
    half = 0.5 * 10.0 ** -row.integer("printed_decimals")
    # C058 is 6.65 at the point; the digits of AC1 allow 6.52 to 6.80.
    slack = 0.15 if claim == "C058" else 0.0
    assert FOLLOWS[claim]() == pytest.approx(float(row.number("value")), abs=half + slack)


@pytest.mark.parametrize("claim", MISSED)
def test_claims_that_rounding_or_other_runs_explain(claim: str) -> None:
    row = published().claims[claim]
    half = 0.5 * 10.0 ** -row.integer("printed_decimals")
    value, slack = MISSED[claim]
    assert value() == pytest.approx(float(row.number("value")), abs=half + slack)
    assert value() != pytest.approx(float(row.number("value")), abs=half)
