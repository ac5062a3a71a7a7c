"""The CSV files computed from published numbers; other programs rely on names and headers."""

from __future__ import annotations

from analysis import comparison, gains, oracle_study, records
from analysis.binning import Bin, bins
from analysis.output import CsvFile
from analysis.published import BASELINE, ORACLE, Published

FIGURE_4 = ("GPT-5.6-Luna", "sums_diffs")
"""Model and task of Figure 4(a)."""


def all_files(data: Published) -> list[CsvFile]:
    """Every file, in no particular order."""
    return [
        ndg_best(data),
        fig3a(data),
        fig3b_bins(data),
        fig3c_counts(data),
        fig4a(data),
        *figure6(data),
        table1_derived(data),
        table4_overall(data),
        table5_overall(data),
        table7_10_deltas(data),
        above_sota(data),
    ]


def ndg_best(data: Published) -> CsvFile:
    """NDG of the best entry of each cell of Tables 7-10."""
    rows = [
        (g.cell.model, g.cell.n, g.cell.method, g.cell.task_id, g.value, g.raw)
        for g in gains.best_gains(data)
    ]
    return CsvFile("ndg_best", ("model", "N", "method", "task_id", "ndg", "ndg_raw"), rows)


def fig3a(data: Published) -> CsvFile:
    """Means over tasks without and with the oracle documents."""
    rows = [
        (row.model, method, value)
        for row in oracle_study.overall_oracle(data.oracle)
        for method, value in ((BASELINE, row.openevolve_mean), (ORACLE, row.oracle_mean))
    ]
    return CsvFile("fig3a", ("model", "method", "mean_ndg"), rows)


def fig3b_bins(data: Published) -> CsvFile:
    """Median change by baseline NDG, pooled over models."""
    found = bins((float(cell.baseline.mean), cell.delta) for cell in data.oracle)
    return CsvFile("fig3b_bins", _BINS, [_bin(row) for row in found])


_BINS = ("lo", "hi", "n", "median_delta")


def _bin(row: Bin) -> tuple[float, float, int, float | None]:
    return (row.lo, row.hi, row.n, row.median)


def fig3c_counts(data: Published) -> CsvFile:
    """Tasks that documents improve or degrade by more than one point."""
    rows = [(row.model, row.improved, row.degraded) for row in oracle_study.changes(data.oracle)]
    return CsvFile("fig3c_counts", ("model", "improved", "degraded"), rows)


def fig4a(data: Published) -> CsvFile:
    """Means of one model on one task with one and with eight candidates."""
    rows = oracle_study.parallel_means(data.parallel, *FIGURE_4)
    return CsvFile("fig4a", ("N", "method", "mean_ndg"), rows)


def figure6(data: Published) -> list[CsvFile]:
    """Figure 6: settings, domains, bins and summary."""
    pairs = comparison.pairs(data)
    domains = comparison.by_domain(pairs)
    return [
        CsvFile(
            "fig6a",
            ("model", "N", "openevolve", "evoduet", "delta"),
            [(s.model, s.n, s.baseline, s.evoduet, s.delta) for s in comparison.by_setting(pairs)],
        ),
        CsvFile(
            "fig6b",
            ("domain", "model", "N", "delta"),
            [(d.domain, d.model, d.n, d.delta) for d in domains],
        ),
        CsvFile(
            "fig6b_domain",
            ("domain", "mean_delta", "n_up", "n_down"),
            [
                (d.domain, d.mean_delta, d.n_up, d.n_down)
                for d in comparison.domain_summaries(domains)
            ],
        ),
        CsvFile(
            "fig6c_bins", _BINS, [_bin(row) for row in bins((p.baseline, p.gain) for p in pairs)]
        ),
        CsvFile("fig6c_summary", ("key", "value"), list(comparison.summary(pairs).items())),
    ]


def table1_derived(data: Published) -> CsvFile:
    """What the paper derives from Table 1."""
    return CsvFile("table1_derived", ("key", "value"), list(records.derived(data).items()))


def table4_overall(data: Published) -> CsvFile:
    """Last rows of Table 4, not rounded."""
    columns = ("model", "openevolve_mean", "openevolve_best", "oracle_mean", "oracle_best",
               "delta_mean", "delta_best", "n_tasks")  # fmt: skip
    rows = [
        [getattr(row, name) for name in columns] for row in oracle_study.overall_oracle(data.oracle)
    ]
    return CsvFile("table4_overall", columns, rows)


def table5_overall(data: Published) -> CsvFile:
    """Last rows of Table 5, not rounded."""
    columns = ("model", "method", "n1_mean", "n1_best", "n8_mean", "n8_best", "delta_mean",
               "delta_best", "n_tasks")  # fmt: skip
    found = oracle_study.overall_parallel(data.parallel)
    rows = [[getattr(row, name) for name in columns] for row in found]
    return CsvFile("table5_overall", columns, rows)


def table7_10_deltas(data: Published) -> CsvFile:
    """Native differences, positive where EvoDuet is better."""
    rows = [
        (c.evoduet.model, c.evoduet.n, c.evoduet.task_id, c.delta_mean, c.delta_best)
        for c in gains.comparisons(data.scores)
    ]
    return CsvFile("table7_10_deltas", ("model", "N", "task_id", "delta_mean", "delta_best"), rows)


def above_sota(data: Published) -> CsvFile:
    """Cells whose best beats the SOTA anchor by more than rounding."""
    rows = [
        (row.gain.cell.model, row.gain.cell.n, row.gain.cell.method, row.gain.cell.task_id,
         row.gain.score.text, row.gain.value)
        for row in gains.above_sota(data)
    ]  # fmt: skip
    columns = ("model", "N", "method", "task_id", "best_native", "ndg")
    return CsvFile("above_sota", columns, rows)
