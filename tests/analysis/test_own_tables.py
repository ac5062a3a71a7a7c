"""The paper's tables from own runs: which runs a cell holds, what is empty, what is never mixed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from published_copy import PublishedCopy, read_csv
from written_runs import WrittenRuns

from analysis.published import Published
from analysis.runs import read_study
from analysis.tables.build import run_files
from analysis.tables.own_layout import layout_files

NATIVE = "openevolve-native"
DENOISING, ERDOS, SUMS, CP26 = "denoising", "erdos", "sums_diffs", "cp26"

Add = Callable[..., None]


@pytest.fixture
def add(written: WrittenRuns) -> Add:
    """Writes a run of 100 iterations, if not told otherwise, with this NDG and score."""
    count = 0

    def add(task: str, retriever: str, ndg: float, score: float = 1.0, **more: Any) -> None:
        nonlocal count
        count += 1
        steps: list[dict[str, Any]] = [{}] * more.pop("iterations", 100)
        scaffold = more.pop("scaffold", NATIVE)
        best = {"ndg": ndg, "ndg_raw": ndg, "objective": score, "reporting": score,
                "search_score": more.pop("search_score", score), "t": more.pop("t", 3)}  # fmt: skip
        written.run(f"r{count:03}", steps, task=task, method=f"{scaffold}+{retriever}",
                    best=best, seed=count, n=more.pop("n", 8), **more)  # fmt: skip

    return add


@pytest.fixture
def rows(written: WrittenRuns, data: Published) -> Callable[[str], list[dict[str, str]]]:
    def rows(name: str) -> list[dict[str, str]]:
        return read_csv(layout_files(read_study(written.folder), data)[f"{name}.csv"])

    return rows


Rows = Callable[[str], list[dict[str, str]]]


def test_gates_by_settings(add: Add, rows: Rows) -> None:
    for ndg in (80.0, 90.0):
        add(DENOISING, "evoduet", ndg)
    add(DENOISING, "evoduet", 50.0, gate="random", gate_p=0.5)
    add(DENOISING, "evoduet", 1.0, gate="random", gate_p=0.3)
    add(DENOISING, "evoduet", 2.0, gate="stagnation", rounds=1)
    add(ERDOS, "evoduet", 99.0, gate="stagnation")
    add(DENOISING, "joint", 3.0)
    found = {(r["gate"], r["task_id"]): (r["n"], r["ndg_mean"]) for r in rows("runs_table1b")}
    assert found == {
        ("knowledge_gap", DENOISING): ("2", "85"),
        ("knowledge_gap", ERDOS): ("0", ""),
        ("random_p0.5", DENOISING): ("1", "50"),
        ("random_p0.5", ERDOS): ("0", ""),
        ("stagnation_heuristic", DENOISING): ("0", ""),
        ("stagnation_heuristic", ERDOS): ("1", "99"),
    }
    notes = {r["note"] for r in rows("runs_table1b") if r["n"] == "0"}
    assert notes == {"no runs"}


def test_what_is_missing_is_named(
    add: Add, written: WrittenRuns, data: Published
) -> None:  # fmt: skip
    add(DENOISING, "evoduet", 81.5)
    page = layout_files(read_study(written.folder), data)["runs_table1.md"]
    assert "| knowledge_gap | **81.5** | 1 |  | 0 |" in page
    assert "gate random_p0.5 on denoising; gate random_p0.5 on erdos" in page


def test_search_methods_beside_the_quoted_column(
    add: Add, rows: Rows, written: WrittenRuns, data: Published
) -> None:
    for score in (2.63, 2.6359830):
        add(CP26, "none", 100.0, score)
    add(CP26, "evoduet", 100.0, 2.6359832)
    add(CP26, "evoduet", 100.0, 2.9, queries=3)
    found = {r["method"]: r for r in rows("runs_table1c") if r["task_id"] == CP26}
    assert {m: (r["source"], r["n"], r["mark"]) for m, r in found.items()} == {
        "OpenEvolve": ("own runs", "2", "tie"), "Joint-level": ("own runs", "0", ""),
        "DeepEvolve": ("published", "", ""), "EvoDuet": ("own runs", "1", "tie"),
    }  # fmt: skip
    assert found["DeepEvolve"]["value"] == "2.581971"
    page = layout_files(read_study(written.folder), data)["runs_table1.md"]
    assert "| cp26 | **2.635983 =** |  | 2.581971 | **2.635983 =** |" in page
    assert "| source | own runs | own runs | published | own runs |" in page
    assert "Not among the tasks here: molecule, burgers." in page


def test_the_quoted_column_follows_the_data(
    add: Add, written: WrittenRuns, copy: PublishedCopy
) -> None:
    add(CP26, "evoduet", 100.0, 2.6)
    copy.set("table1c_search_methods", {"method": "DeepEvolve"}, cp26="2.71")
    files = layout_files(read_study(written.folder), copy.read())
    assert "**2.71**" in files["runs_table1.md"]


def test_scaffolds(add: Add, rows: Rows) -> None:
    for scaffold, with_, without in ((NATIVE, 30.0, 20.0), ("topk", 60.0, 5.0)):
        add(SUMS, "evoduet", with_, scaffold=scaffold)
        add(SUMS, "none", without, scaffold=scaffold)
        add(SUMS, "none", without + 2, scaffold=scaffold)
    add(SUMS, "evoduet", 99.0, scaffold="topk", search="tavily")
    found = {(r["settings"], r["scaffold"]): r["delta"] for r in rows("runs_table1d")
             if r["task_id"] == SUMS}  # fmt: skip
    assert found == {
        ("search=offline", NATIVE): "9", ("search=offline", "topk"): "54",
        ("search=tavily", NATIVE): "", ("search=tavily", "topk"): "93",
    }  # fmt: skip


def test_costs(add: Add, rows: Rows) -> None:
    add(DENOISING, "evoduet", 90.0, cost=2.0)
    add(DENOISING, "none", 80.0, cost=0.5)
    add(DENOISING, "joint", 70.0, cost=1.0)
    add(DENOISING, "joint", 95.0, cost=None)
    found = {r["method"]: r for r in rows("runs_table1e")}
    assert [r["not_dominated"] for r in found.values()] == ["yes", "no", "yes"]
    assert found[f"{NATIVE}+none"]["cost_ratio"] == "0.25"
    assert len(found) == 3


def test_levels_and_ablations(add: Add, rows: Rows) -> None:
    add(DENOISING, "none", 0.0)
    add(DENOISING, "joint", 43.2)
    add(DENOISING, "evoduet", 84.5)
    add(DENOISING, "evoduet", 10.0, rounds=1)
    add(DENOISING, "evoduet", 20.0, queries=3, retain=5)
    add(DENOISING, "evoduet", 30.0, queries=3, retain=5, per_query=9)
    two = [r["ndg_mean"] for r in rows("runs_table2") if r["task_id"] == DENOISING]
    assert two == ["0", "43.2", "84.5"]
    assert [(r["R"], r["default"], r["ndg_mean"]) for r in rows("runs_table6a")] == [
        ("1", "no", "10"), ("3", "yes", "84.5"), ("5", "no", ""),
    ]  # fmt: skip
    assert [(r["J"], r["D"], r["ndg_mean"]) for r in rows("runs_table6b")] == [
        ("1", "3", "84.5"), ("3", "3", ""), ("3", "5", "20"), ("5", "3", ""),
    ]  # fmt: skip


def test_grids_of_ndg(add: Add, rows: Rows, written: WrittenRuns, data: Published) -> None:
    for ndg in (40.0, 60.0):
        add(CP26, "none", ndg, n=1)
    add(CP26, "oracle", 55.0, n=1)
    add(ERDOS, "oracle", 70.0, n=1)
    add(CP26, "none", 100.0, n=8)
    four = {r["task_id"]: r for r in rows("runs_table4")}
    assert len(four) == 31
    cp26 = four[CP26]
    assert (cp26["openevolve_n"], cp26["openevolve_mean"], cp26["oracle_best"]) == ("2", "50", "55")
    assert (cp26["delta_mean"], cp26["delta_best"]) == ("5", "-5")
    assert four[ERDOS]["note"] == "no runs: openevolve"
    assert four["ac1"]["note"] == "no runs"
    (overall,) = rows("runs_table4_overall")
    assert (overall["n_tasks"], overall["delta_mean"]) == ("1", "5")
    five = {(r["method"], r["task_id"]): r for r in rows("runs_table5")}
    assert five["OpenEvolve", CP26]["delta_mean"] == "50"
    page = layout_files(read_study(written.folder), data)["runs_table4.md"]
    assert "| 2 | 50.0 ± 14.1 | **60.0** | 1 | **55.0** | 55.0 | +5.0 | −5.0 |" in page


def test_native_grids_have_the_published_digits(
    add: Add, rows: Rows, written: WrittenRuns, data: Published
) -> None:
    swap = "swap_reduction"
    for score in (16000.4, 17000.4):
        add(swap, "evoduet", 50.0, score, search_score=-score)
    add(swap, "none", 20.0, 19000.0)
    add(ERDOS, "none", 20.0, 0.39)
    page = layout_files(read_study(written.folder), data)["runs_table7.md"]
    assert "| 1 | 19,000 | 19,000 | 2 | **16,500 ± 707** | **16,000** | +2,500 | +3,000 |" in page
    found = {r["task_id"]: r for r in rows("runs_tables7_10")}
    assert len(found) == 21
    assert float(found[swap]["delta_mean"]) == pytest.approx(2499.6)
    assert found[ERDOS]["note"] == "no runs: EvoDuet"
    assert found["ac1"]["note"] == "no runs"


def test_best_programs(add: Add, rows: Rows) -> None:
    sota = 2.6359830849210715
    add(CP26, "evoduet", 100.0, sota + 5e-10, t=41)
    add(CP26, "evoduet", 90.0, 2.5)
    add(ERDOS, "evoduet", 101.0, 0.3808, search_score=2.626, n=16)
    add("cp32", "none", 100.0, 2.99)
    found = {r["task_id"]: r for r in rows("runs_table13")}
    assert (found[CP26]["iteration"], found[CP26]["outcome"]) == ("41", "tie")
    assert (found[ERDOS]["N"], found[ERDOS]["outcome"]) == ("16", "record")
    assert found["cp32"]["note" if "note" in found["cp32"] else "outcome"] == "no runs"


def test_other_budgets_are_not_averaged(
    add: Add, rows: Rows, written: WrittenRuns, data: Published
) -> None:
    add(DENOISING, "evoduet", 80.0)
    add(DENOISING, "evoduet", 10.0, iterations=20)
    add(ERDOS, "evoduet", 50.0, iterations=20)
    found = {(r["gate"], r["task_id"]): r for r in rows("runs_table1b")}
    assert found["knowledge_gap", DENOISING]["ndg_mean"] == "80"
    assert found["knowledge_gap", ERDOS]["iterations"] == "20"
    page = layout_files(read_study(written.folder), data)["runs_table1.md"]
    assert "denoising: 1 run of other than 100 iterations left out" in page
    assert "erdos: runs of 20 iterations instead of 100" in page


def test_layout_is_there_without_matching_runs(
    add: Add, written: WrittenRuns, data: Published
) -> None:
    add("chwirut2", "sequential", 5.0, n=3, iterations=20)
    files, _ = run_files(written.folder, data)
    assert {name for name in files if "table" in name} > {
        f"runs_table{n}.{suffix}" for n in (1, 2, 4, 5, 6, 7, 8, 9, 10, 13) for suffix in
        ("md", "tex")
    }  # fmt: skip
    assert "; no runs" in files["runs_table2.md"]
    assert all(r["n"] == "0" for r in read_csv(files["runs_table1b.csv"]))
    assert not {name for name in files if "table" in name and not name.startswith("runs")}


def test_order_of_folders_does_not_matter(tmp_path: Path, data: Published) -> None:
    pages = []
    for order in (1, -1):
        written = WrittenRuns(tmp_path / str(order))
        for name, ndg in [("a", 10.0), ("b", 30.0), ("c", 20.0)][::order]:
            written.run(f"{name}", [{}] * 100, task=CP26, method=f"{NATIVE}+none", n=1,
                        best={"ndg": ndg, "ndg_raw": ndg})  # fmt: skip
        pages.append(layout_files(read_study(written.folder), data))
    assert pages[0] == pages[1]


def test_digits_follow_the_published_tables(
    add: Add, written: WrittenRuns, copy: PublishedCopy
) -> None:
    add(ERDOS, "none", 20.0, 0.3912345)
    before = layout_files(read_study(written.folder), copy.read())["runs_table9.md"]
    assert "| 0.391234 | 0.391234 |" in before
    copy.change(
        "tables7_10_scores",
        lambda row: {**row, "mean": "0.38", "best": "0.38"} if row["task_id"] == ERDOS else row,
    )
    after = layout_files(read_study(written.folder), copy.read())["runs_table9.md"]
    assert "| 0.39 | 0.39 |" in after


def test_every_latex_row_has_its_columns(add: Add, written: WrittenRuns, data: Published) -> None:
    for task in (DENOISING, ERDOS, CP26, SUMS):
        for n in (1, 8):
            for retriever in ("none", "oracle", "joint", "evoduet"):
                add(task, retriever, 50.0, n=n)
    files = layout_files(read_study(written.folder), data, about="A & B")
    for name, text in files.items():
        columns = 0
        for line in text.splitlines() if name.endswith(".tex") else ():
            if line.startswith(r"\begin{tabular}"):
                columns = len(line.removeprefix(r"\begin{tabular}{").removesuffix("}"))
            elif line.endswith(r"\\"):
                assert line.replace(r"\&", "").count("&") == columns - 1, (name, line)


def test_nothing_published_is_in_files_of_own_runs(
    add: Add, written: WrittenRuns, copy: PublishedCopy
) -> None:
    """But digits, layout and the one quoted column, which says so."""
    add(CP26, "evoduet", 100.0, 2.6)
    before = layout_files(read_study(written.folder), copy.read())
    for name in ("table4_oracle", "table5_parallel", "tables7_10_scores", "table1b_gating",
                 "table1e_pareto", "table2_joint_vs_bilevel", "table6a_rounds"):  # fmt: skip
        copy.change(name, lambda row: {
            key: value.translate(_OTHER_DIGITS) if _is_score(key) else value
            for key, value in row.items()
        })  # fmt: skip
    assert layout_files(read_study(written.folder), copy.read()) == before


_OTHER_DIGITS = str.maketrans("123456789", "987654321")


def _is_score(column: str) -> bool:
    return column.endswith(("mean", "std", "best", "pct", "usd"))
