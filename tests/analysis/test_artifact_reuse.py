"""Tables with and without runs flagged for artifact reuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from published_copy import read_csv
from synthetic_traces import SyntheticRuns, slot

from analysis.published import Published
from analysis.tables.build import run_files
from analysis.traces import open_trace

METHOD = "openevolve-native+evoduet"


@pytest.fixture
def study(synthetic: SyntheticRuns) -> Path:
    """Two runs of 100 iterations; in run b a program downloads something."""
    clean = [slot(child=0.6, child_code="x = 1\n"), *[slot()] * 99]
    fetches = "import urllib.request\nx = urllib.request.urlopen('https://example.org').read()\n"
    reusing = [slot("retrieve", child=0.9, child_code=fetches), *[slot()] * 99]
    for name, steps, ndg in (("a", clean, 40.0), ("b", reusing, 100.0)):
        synthetic.run(name, steps, method=METHOD, n=8, seed=ord(name),
                      best={"ndg": ndg, "ndg_raw": ndg, "reporting": ndg / 50})  # fmt: skip
    return synthetic.folder


def test_flagged_runs_are_named_and_left_out(study: Path, data: Published) -> None:
    files, _ = run_files(study, data)
    rows = {row["run_id"]: row for row in read_csv(files["runs_artifact_reuse.csv"])}
    assert (rows["a"]["artifact_reuse"], rows["b"]["artifact_reuse"]) == ("no", "yes")
    assert rows["b"]["first_t"] == "1"
    (with_,), (without,) = (
        [row for row in read_csv(files[f"runs_cells{suffix}.csv"]) if row["task_id"] == "cp26"]
        for suffix in ("", "_unflagged")
    )
    assert (with_["n"], with_["ndg_mean"]) == ("2", "70")
    assert (without["n"], without["ndg_mean"]) == ("1", "40")
    means = {
        row["aggregate"]: row["value"] for row in read_csv(files["runs_aggregates_unflagged.csv"])
    }
    assert means["mean"] == "40"
    assert "Without runs flagged" in files["runs_unflagged_table1.md"]
    (best,) = (r for r in read_csv(files["runs_unflagged_table13.csv"]) if r["task_id"] == "cp26")
    assert best["run_id"] == "a"


def test_a_rejected_flag_counts_no_more(study: Path, data: Published) -> None:
    """A person who looked has the last word."""
    verdict = {"flag": "artifact_reuse", "t": 1, "verdict": "rejected"}
    review = {"schema": "evoduet.audit_review/1", "verdicts": [verdict]}
    (study / "b" / "audit_review.json").write_text(json.dumps(review))
    files, _ = run_files(study, data)
    rows = {row["run_id"]: row["artifact_reuse"] for row in
            read_csv(files["runs_artifact_reuse.csv"])}  # fmt: skip
    assert rows["b"] == "rejected"
    assert not [name for name in files if name.startswith("runs_unflagged")]
    assert (
        files["runs_cells.csv"].split("\n", 1)[1]
        == files["runs_cells_unflagged.csv"].split("\n", 1)[1]
    )


def test_a_saved_audit_that_fits_is_used(study: Path, data: Published) -> None:
    from analysis.audit import write_audit

    _, path = write_audit(open_trace(study / "b"))
    content = json.loads(path.read_text())
    content["flags"] = []
    path.write_text(json.dumps(content))
    files, _ = run_files(study, data)
    rows = {row["run_id"]: row["artifact_reuse"] for row in
            read_csv(files["runs_artifact_reuse.csv"])}  # fmt: skip
    assert rows["b"] != "yes"
