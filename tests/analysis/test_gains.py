"""Tables 7-10 on the NDG scale, native differences, cells above the anchor."""

from __future__ import annotations

import pytest
from published_copy import PublishedCopy

from analysis.gains import above_sota, best_gains, comparisons, gains_of_means
from analysis.published import Published


def test_every_best_run_on_the_ndg_scale(data: Published) -> None:
    rows = data.rows("ndg_best_derived", ("model", "N", "method", "task_id"))
    derived = {
        (r.text("model"), r.integer("N"), r.text("method"), r.text("task_id")): r for r in rows
    }
    gains = best_gains(data)
    assert len(gains) == len(derived) == 252
    for gain in gains:
        cell = gain.cell
        row = derived[cell.model, cell.n, cell.method, cell.task_id]
        assert gain.value == pytest.approx(float(row.number("ndg_replay_anchors")), abs=1e-4)
        assert (gain.raw < 0) == (gain.value == 0.0) or gain.raw == 0


def test_mean_scores_are_never_better_than_bests(data: Published) -> None:
    for mean, best in zip(gains_of_means(data), best_gains(data), strict=True):
        assert mean.raw <= best.raw + 1e-9


def test_printed_deltas_are_differences(data: Published) -> None:
    columns = ("model", "N", "method", "task_id", "delta_mean", "delta_best")
    printed = {
        (r.text("model"), r.integer("N"), r.text("task_id")): r
        for r in data.rows("tables7_10_scores", columns)
        if r.text("method") == "EvoDuet"
    }
    checked = 0
    for found in comparisons(data.scores):
        row = printed[found.evoduet.model, found.evoduet.n, found.evoduet.task_id]
        for delta, name in ((found.delta_mean, "mean"), (found.delta_best, "best")):
            number = row.number(f"delta_{name}")
            ours, theirs = (getattr(c.score, name).unit for c in (found.evoduet, found.baseline))
            unit = max(number.unit, ours, theirs)
            assert abs(delta - number.exact) <= unit * 3 / 2
            checked += 1
    assert checked == 252


ABOVE = {
    ("OpenEvolve", "galileo", "Gemini-3.8-Flash", 8),
    ("OpenEvolve", "rosetta", "Gemini-3.8-Flash", 8),
    ("OpenEvolve", "cassini", "Gemini-3.8-Flash", 8),
    ("OpenEvolve", "u_shape", "Qwen3.5-9B", 1),
    ("OpenEvolve", "parallel", "GPT-5.6-Luna", 8),
    ("EvoDuet", "swap_reduction", "GPT-5.6-Luna", 8),
    ("EvoDuet", "rosetta", "GPT-5.6-Luna", 1),
    ("EvoDuet", "rosetta", "Gemini-3.8-Flash", 8),
    ("EvoDuet", "denoising", "GPT-5.6-Luna", 8),
    ("EvoDuet", "domain_mixture", "GPT-5.6-Luna", 8),
    ("EvoDuet", "parallel", "Gemini-3.8-Flash", 8),
    ("EvoDuet", "sums_diffs", "Gemini-3.8-Flash", 8),
    ("EvoDuet", "erdos", "GPT-5.6-Luna", 1),
    ("EvoDuet", "erdos", "GPT-5.6-Luna", 8),
}


def test_fourteen_cells_above_the_anchor_one_within_its_uncertainty(data: Published) -> None:
    found = above_sota(data)
    cells = [(r.gain.cell.method, r.gain.cell.task_id, r.gain.cell.model, r.gain.cell.n)
             for r in found]  # fmt: skip
    assert len(cells) == 14
    assert set(cells) == ABOVE
    assert sum(gain.value > 100 for gain in best_gains(data)) == 41
    within = [row.gain.cell.task_id for row in found if row.within_uncertainty]
    assert within == ["cassini"]
    (cassini,) = (row for row in found if row.gain.cell.task_id == "cassini")
    assert cassini.gain.score.text == "0.8200"
    assert cassini.gain.value == pytest.approx(100.002, abs=0.001)


def test_half_a_unit_of_the_last_digit_decides(copy: PublishedCopy) -> None:
    cell = {"model": "Qwen3.5-9B", "N": "8", "method": "EvoDuet", "task_id": "ahc058"}

    def listed(best: str, sota: str) -> bool:
        copy.set("tables7_10_scores", cell, best=best)
        copy.set("anchors_derived", {"task_id": "ahc058"}, replay_sota=sota)
        return any(
            (r.gain.cell.task_id, r.gain.cell.model, r.gain.cell.n, r.gain.cell.method)
            == ("ahc058", "Qwen3.5-9B", 8, "EvoDuet")
            for r in above_sota(copy.read())
        )

    assert not listed("851040001", "851040000.5")
    assert listed("851040001", "851040000.4")
    assert not listed("851040001.0", "851040000.95")
    assert listed("851040001.0", "851040000.9")


def test_without_ranges_nothing_is_said_about_uncertainty(copy: PublishedCopy) -> None:
    anchors = copy.folder / "elsewhere.csv"
    (copy.folder / "anchors_derived.csv").rename(anchors)
    found = above_sota(Published(copy.folder, anchors))
    assert len(found) == 14
    assert {row.within_uncertainty for row in found} == {None}
