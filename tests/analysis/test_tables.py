"""All files of `evoduet tables`: layout, rounding, needs, and that they follow the input."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from published_copy import PublishedCopy, read_csv
from written_runs import WrittenRuns

from analysis.published import Published, default_folder
from analysis.rows import DataProblem
from analysis.tables.build import published_files, run_files

HEADERS = {
    "ndg_best": "model,N,method,task_id,ndg,ndg_raw",
    "fig3a": "model,method,mean_ndg",
    "fig3b_bins": "lo,hi,n,median_delta",
    "fig3c_counts": "model,improved,degraded",
    "fig4a": "N,method,mean_ndg",
    "fig6a": "model,N,openevolve,evoduet,delta",
    "fig6b": "domain,model,N,delta",
    "fig6b_domain": "domain,mean_delta,n_up,n_down",
    "fig6c_bins": "lo,hi,n,median_delta",
    "fig6c_summary": "key,value",
    "table1_derived": "key,value",
    "table4_overall": "model,openevolve_mean,openevolve_best,oracle_mean,oracle_best,delta_mean,"
    "delta_best,n_tasks",
    "table5_overall": "model,method,n1_mean,n1_best,n8_mean,n8_best,delta_mean,delta_best,n_tasks",
    "table7_10_deltas": "model,N,task_id,delta_mean,delta_best",
    "above_sota": "model,N,method,task_id,best_native,ndg",
}
NOT_NEEDED = (
    "figure6_reproduced", "ndg_best_derived", "table4_overall", "table5_overall", "table7_scores",
    "table8_scores", "table9_scores", "table10_scores", "inferred_run_counts", "inconsistencies",
    "anchors_official", "anchors_reconciled", "anchors_simple_science", "page_results_ndg21",
    "page_cost_points_denoising", "page_behaviour_counts", "page_best_programs",
    "page_recorded_runs", "release_settings", "release_timeouts", "oracle_sources",
)  # fmt: skip


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return published_files(Published(default_folder()))


def test_names_and_headers_are_fixed(files: dict[str, str]) -> None:
    for name, header in HEADERS.items():
        assert files[f"{name}.csv"].splitlines()[0] == header
    numbers = range(1, 14)
    assert {f"table{n}.{suffix}" for n in numbers for suffix in ("md", "tex")} <= set(files)


def test_numbers_are_plain_decimals(files: dict[str, str]) -> None:
    for name, text in files.items():
        if name.endswith(".csv"):
            for row in read_csv(text):
                for value in row.values():
                    assert "nan" not in value.lower(), (name, row)
                    assert not any(c.isdigit() and "e-" in value for c in value[:1]), (name, row)
    assert [row["hi"] for row in read_csv(files["fig6c_bins.csv"])][-1] == "inf"
    assert read_csv(files["above_sota.csv"])[0]["best_native"] == "0.8200"
    summary = {row["key"]: row["value"] for row in read_csv(files["fig6c_summary.csv"])}
    assert list(summary) == ["n", "pearson_r", "n_ge95", "n_ge95_drop_gt5", "n_lt5",
                             "n_lt5_raised", "median_raised"]  # fmt: skip
    assert summary["n"] == "126"


def test_derived_files_and_printed_deltas_are_not_needed(
    copy: PublishedCopy, files: dict[str, str]
) -> None:
    for name in NOT_NEEDED:
        (copy.folder / f"{name}.csv").unlink()
    for name in ("table4_oracle", "table5_parallel", "tables7_10_scores"):
        copy.change(name, lambda row: {**row, "delta_mean": "", "delta_best": ""})
    copy.change("table13_best_programs", lambda row: {**row, "delta": ""})
    assert published_files(copy.read()) == files


def test_row_order_does_not_matter(copy: PublishedCopy, files: dict[str, str]) -> None:
    draw = random.Random(7)
    for path in copy.folder.glob("*.csv"):
        header, *lines = path.read_text(encoding="utf-8").splitlines()
        draw.shuffle(lines)
        path.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
    shuffled = published_files(copy.read())
    different = {name for name in files if files[name] != shuffled[name]}
    # Small tables without an order of their own keep the order of their file.
    assert different <= {f"table{n}.{s}" for n in (1, 2, 6, 11, 12) for s in ("md", "tex")}


def test_other_models_and_tasks_work(copy: PublishedCopy) -> None:
    for name in ("table4_oracle", "table5_parallel", "tables7_10_scores"):
        copy.change(
            name, lambda row: {**row, "model": row["model"].replace("Qwen3.5-9B", "Other-1")}
        )
    files = published_files(copy.read())
    assert {row["model"] for row in read_csv(files["fig6a.csv"])} == {
        "Gemini-3.8-Flash", "GPT-5.6-Luna", "Other-1",
    }  # fmt: skip
    assert "Qwen" not in files["table4.md"]


def test_perturbed_input_reaches_every_file(copy: PublishedCopy, files: dict[str, str]) -> None:
    """Every transcribed number that a table shows matters to some output."""
    changes = {
        "table1b_gating": ("random_p0.5", {"gating": "random_p0.5"}, {"denoising_ndg_pct": "59.9"}),
        "table1c_search_methods": ("", {"method": "EvoDuet"}, {"cp26": "2.636000"}),
        "table1d_scaffolds": ("", {"scaffold": "EvoX"}, {"denoising_delta_ndg": "-37.8"}),
        "table2_joint_vs_bilevel": ("", {"method": "bi_level"}, {"denoising_ndg_pct": "12.3"}),
        "table6a_rounds": ("", {"R": "5"}, {"denoising_ndg_pct": "99.99"}),
        "table6b_queries": ("", {"J": "5"}, {"denoising_ndg_pct": "77.77"}),
        "table11_failures": ("", {"task_id": "cp26"}, {"verdict": "accepted"}),
        "table12_cases": ("", {"section": "I.1"}, {"N": "16"}),
        "table13_best_programs": ("", {"task_id": "erdos"}, {"evoduet": "0.380800"}),
    }
    for name, (_, where, values) in changes.items():
        copy.set(name, where, **values)
    after = published_files(copy.read())
    changed = {name for name in files if files[name] != after[name]}
    assert changed == {f"table{n}.{s}" for n in (1, 2, 6, 11, 12, 13) for s in ("md", "tex")}
    for text in ("59.9", "2.636000", "−37.8"):
        assert text in after["table1.md"]
    assert "**12.3**" not in after["table2.md"]
    assert "12.3" in after["table2.md"]
    assert "−0.000068" in after["table13.md"]


def test_perturbed_scores_change_the_computed_files(
    copy: PublishedCopy, files: dict[str, str]
) -> None:
    cell = {"model": "GPT-5.6-Luna", "N": "1", "method": "EvoDuet", "task_id": "swap_reduction"}
    copy.set("tables7_10_scores", cell, mean="18950", best="15186")
    after = published_files(copy.read())
    deltas = {
        (r["model"], r["N"], r["task_id"]): r for r in read_csv(after["table7_10_deltas.csv"])
    }
    assert deltas["GPT-5.6-Luna", "1", "swap_reduction"]["delta_mean"] == "0"
    assert deltas["GPT-5.6-Luna", "1", "swap_reduction"]["delta_best"] == "1772"
    best = {(r["model"], r["N"], r["method"], r["task_id"]): float(r["ndg"])
            for r in read_csv(after["ndg_best.csv"])}  # fmt: skip
    assert best["GPT-5.6-Luna", "1", "EvoDuet", "swap_reduction"] == pytest.approx(100, abs=0.01)
    changed = {name for name in files if files[name] != after[name]}
    assert {"fig6a.csv", "fig6b.csv", "fig6b_domain.csv", "fig6c_summary.csv", "ndg_best.csv",
            "table7.md", "table7.tex", "table7_10_deltas.csv", "statistics_pairs.csv",
            "statistics_sensitivity.csv"} <= changed  # fmt: skip
    assert not {"table8.md", "fig3a.csv", "table4_overall.csv", "table1_derived.csv"} & changed


def test_other_anchors_are_used_everywhere(files: dict[str, str]) -> None:
    folder = default_folder()
    other = published_files(Published(folder, folder / "anchors_reconciled.csv"))
    rows = {(r["model"], r["N"]): r for r in read_csv(other["fig6a.csv"])}
    assert float(rows["Qwen3.5-9B", "1"]["evoduet"]) == pytest.approx(52.444, abs=0.0006)
    assert float(rows["GPT-5.6-Luna", "1"]["openevolve"]) == pytest.approx(74.128, abs=0.0006)
    derived = {r["key"]: r["value"] for r in read_csv(other["table1_derived.csv"])}
    assert float(derived["denoising_record_ndg"]) == pytest.approx(100.266, abs=0.001)
    assert derived != {r["key"]: r["value"] for r in read_csv(files["table1_derived.csv"])}


def test_markdown_and_latex_show_the_same_rounded_cells(files: dict[str, str]) -> None:
    assert "| 74.2 | 82.7 | **78.3** | **85.4** | +4.0 | +2.7 |" in files["table4.md"]
    assert r"74.2 & 82.7 & \textbf{78.3} & \textbf{85.4} & +4.0 & +2.7 \\" in files["table4.tex"]
    assert "| 37.9 | **67.4** | **49.7** | 64.7 | +11.8 | −2.7 |" in files["table5.md"]
    swap = "| GPT-5.6-Luna | 8 | 18,032 ± 1,472 | 16,354 | **17,690 ± 1,997** | **14,835** |"
    assert swap in files["table7.md"]
    assert r"18,032 $\pm$ 1,472 & 16,354 & \textbf{17,690 $\pm$ 1,997}" in files["table7.tex"]
    assert "| Algorithm engineering | ahc039, ahc058 | 2 |" in files["table3.md"]
    assert "8 records, 3 ties" in files["table1.md"]
    assert "within anchor uncertainty" in files["above_sota.md"]


def test_table_3_counts_the_catalogue(files: dict[str, str]) -> None:
    lines = [line.split(" | ") for line in files["table3.md"].splitlines() if line.startswith("| ")]
    assert [int(line[-1].rstrip(" |")) for line in lines[2:]] == [10, 1, 5, 1, 4, 2, 8, 31]


def test_latex_rows_have_as_many_cells_as_columns(files: dict[str, str]) -> None:
    for name, text in files.items():
        if not name.endswith(".tex"):
            continue
        columns = 0
        for line in text.splitlines():
            if line.startswith(r"\begin{tabular}"):
                columns = len(line.removeprefix(r"\begin{tabular}{").removesuffix("}"))
            elif line.endswith(r"\\"):
                assert line.replace(r"\&", "").count("&") == columns - 1, (name, line)


def test_own_runs_go_to_files_of_their_own(written: WrittenRuns, data: Published) -> None:
    written.run("a", [{"score": 2.0}], best={"ndg": 50.0, "reporting": 2.0})
    own, notes = run_files(written.folder, data)
    assert notes == ()
    assert not set(own) & set(published_files(data))
    (row,) = read_csv(own["runs.csv"])
    assert {k: row[k] for k in ("task_id", "method", "model", "N", "seed", "ndg", "cost_usd")} == {
        "task_id": "cp26", "method": "openevolve-native+none", "model": "some-model", "N": "2",
        "seed": "1", "ndg": "50", "cost_usd": "0.5",
    }  # fmt: skip


def test_a_missing_table_is_named(copy: PublishedCopy) -> None:
    Path(copy.folder / "table6a_rounds.csv").unlink()
    with pytest.raises(DataProblem, match=r"table6a_rounds\.csv: missing"):
        published_files(copy.read())
