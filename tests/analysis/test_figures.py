"""Figures: the same bytes every time, data beside them, numbers that follow the input."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from published_copy import PublishedCopy, read_csv
from shared_data import REPOSITORY
from written_runs import WrittenRuns

from analysis.figures import fig4, fig7
from analysis.figures.build import PUBLISHED, RUNS, choose, draw, files
from analysis.figures.comparisons import cliques
from analysis.figures.naming import full_names, method_names
from analysis.figures.style import DPI, looks, model_looks, signed
from analysis.published import Published, default_folder
from analysis.rows import DataProblem
from analysis.statistics.ranks import Ranking
from analysis.tables.build import published_files


@pytest.fixture(scope="module")
def drawn() -> dict[str, dict[str, str | bytes]]:
    data = Published(default_folder())
    return {figure.name: files(figure) for figure in draw(choose([], runs=False), data, None)}


def test_every_figure_has_pictures_and_data(drawn: dict[str, dict[str, str | bytes]]) -> None:
    assert list(drawn) == [
        "fig1", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig9", "profile", "ranks",
    ]  # fmt: skip
    for name, content in drawn.items():
        assert {f"{name}.pdf", f"{name}.svg", f"{name}.png"} <= set(content)
        shows_data = name not in ("fig1", "fig5", "fig9")
        assert any(file.endswith(".csv") for file in content) == shows_data
        picture = Image.open(BytesIO(bytes(content[f"{name}.png"])))  # type: ignore[arg-type]
        assert picture.info["dpi"] == pytest.approx((DPI, DPI), abs=0.1)
        ink = np.asarray(picture.convert("L")) < 250
        assert 0.01 < ink.mean() < 0.6
        assert not ink[:, :3].any()  # nothing is cut off at the sides
        assert not ink[:, -3:].any()


CODE = """
import hashlib, sys
from analysis.figures.build import draw, files
from analysis.published import Published, default_folder
for figure in draw(["fig1", "fig3", "fig6", "ranks"], Published(default_folder()), None):
    for name, content in files(figure).items():
        data = content if isinstance(content, bytes) else content.encode()
        print(name, hashlib.sha256(data).hexdigest())
"""


def test_another_process_draws_the_same_bytes(
    drawn: dict[str, dict[str, str | bytes]], tmp_path: Path
) -> None:
    """Also with another hash seed, time zone, day and user settings of matplotlib."""
    (tmp_path / "matplotlibrc").write_text("font.size: 20\nsvg.hashsalt: other\n")
    answer = subprocess.run(
        [sys.executable, "-c", CODE], check=True, capture_output=True, text=True, cwd=REPOSITORY,
        env={**os.environ, "PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo",
             "MATPLOTLIBRC": str(tmp_path), "SOURCE_DATE_EPOCH": "86400"},
    )  # fmt: skip
    theirs = dict(line.split() for line in answer.stdout.splitlines())
    ours = {
        name: hashlib.sha256(c if isinstance(c, bytes) else c.encode()).hexdigest()
        for figure in ("fig1", "fig3", "fig6", "ranks")
        for name, c in drawn[figure].items()
    }
    assert theirs == ours


def test_vectors_hold_no_dates(drawn: dict[str, dict[str, str | bytes]]) -> None:
    for name, content in drawn.items():
        assert b"CreationDate" not in bytes(content[f"{name}.pdf"])  # type: ignore[arg-type]
        assert b"dc:date" not in bytes(content[f"{name}.svg"])  # type: ignore[arg-type]


def test_data_beside_figures_are_those_of_the_tables(
    drawn: dict[str, dict[str, str | bytes]], data: Published
) -> None:
    tables = published_files(data)
    shared = [(c, name) for c in drawn.values() for name in c if name in tables]
    assert {name for _, name in shared} == {
        "fig3a.csv", "fig3b_bins.csv", "fig3c_counts.csv", "fig4a.csv", "fig6a.csv", "fig6b.csv",
        "fig6b_domain.csv", "fig6c_bins.csv", "fig6c_summary.csv",
    }  # fmt: skip
    for content, name in shared:
        assert content[name] == tables[name]


def test_figure_3_has_62_points_20_of_them_simple(
    drawn: dict[str, dict[str, str | bytes]],
) -> None:
    rows = read_csv(str(drawn["fig3"]["fig3b_points.csv"]))
    assert len(rows) == 62
    assert sum(row["simple"] == "yes" for row in rows) == 20


def test_figure_4_shows_what_the_text_says(data: Published) -> None:
    found = {name: (p.joint.text, p.bilevel.text) for name, p in fig4.end_points(data).items()}
    assert found == {
        "queries": ("185", "201"),
        "distinct_urls": ("85", "248"),
        "repeated_urls_pct": ("88.1", "62.4"),
        "held_out_ndg": ("27.7", "84.5"),
    }
    (table,) = (t for t in fig4.tables(data) if t.name == "fig4_end_points")
    rows = {row["quantity"]: row["joint_level"] for row in read_csv(table.text())}
    assert rows["iterations_with_search"] == "99"
    assert rows["last_improving_iteration"] == "50"


def test_figure_6_has_126_points(drawn: dict[str, dict[str, str | bytes]]) -> None:
    rows = read_csv(str(drawn["fig6"]["fig6c_points.csv"]))
    assert len(rows) == 126
    assert len({(row["model"], row["N"]) for row in rows}) == 6


def test_figure_7_shows_its_own_list_and_the_papers_end_points(data: Published) -> None:
    assert fig7.end_points(data) == [
        ("Gemini", 1, 84.5), ("Gemini", 16, 89.6), ("Luna", 1, 89.6), ("Luna", 16, 95.7),
    ]  # fmt: skip
    assert len(fig7.common_tasks(data)) == 21
    found = {(p.model, p.n): p for p in fig7.points(data)}
    assert found["GPT-5.6-Luna", 8].of_best == pytest.approx(83.606, abs=0.001)
    assert all(p.of_mean_score < p.of_best for p in found.values())


def test_figure_7_drops_tasks_that_a_setting_lacks(copy: PublishedCopy) -> None:
    gone = {"model": "Qwen3.5-9B", "N": "8", "task_id": "ac1"}
    copy.change(
        "tables7_10_scores",
        lambda row: None if all(row[k] == v for k, v in gone.items()) else row,
    )
    assert "ac1" not in fig7.common_tasks(copy.read())
    assert {p.n_tasks for p in fig7.points(copy.read())} == {20}


@pytest.mark.parametrize("name", ["fig3", "fig4", "fig7"])
def test_changed_data_change_the_picture(
    copy: PublishedCopy, drawn: dict[str, dict[str, str | bytes]], name: str
) -> None:
    copy.set("table4_oracle", {"model": "Qwen3.5-9B", "task_id": "ac1"}, oracle_mean="99.0")
    copy.set("text_claims", {"id": "C041"}, value="100")
    copy.set("text_claims", {"id": "C052"}, value="99")
    (figure,) = draw([name], copy.read(), None)
    after = files(figure)
    assert all(after[f"{name}.{s}"] != drawn[name][f"{name}.{s}"] for s in ("pdf", "svg", "png"))


def test_names_are_checked() -> None:
    assert choose([], runs=False) == list(PUBLISHED)
    assert choose(["fig6", "fig3"], runs=False) == ["fig3", "fig6"]
    assert choose([], runs=True) == [*PUBLISHED, *RUNS]
    with pytest.raises(DataProblem, match="no figure fig99; there are fig1, fig2, fig3"):
        choose(["fig99"], runs=False)
    with pytest.raises(DataProblem, match="runs_anytime shows own runs: give --runs"):
        choose(["runs_anytime"], runs=False)


def test_own_runs_have_their_figures(written: WrittenRuns, data: Published) -> None:
    denoising = {"task": "scientific_algorithms/denoising", "x0": None}
    for seed in (1, 2):
        for method in ("openevolve-native+none", "openevolve-native+evoduet", "topk+none"):
            for task in ("cp26", "cp32"):
                steps = [{"score": 2.0 + seed / 10}, {"best": 2.1, "evaluations": 2}]
                written.run(f"{task}-{method}-{seed}", steps, task=task, method=method, seed=seed,
                            best={"ndg": 50.0 + seed, "ndg_raw": 50.0})  # fmt: skip
            step = {"new_best": True, "child": {"objective": None}, "best": 0.5}
            written.run(f"held-{method}-{seed}", [step], method=method, seed=seed, **denoising,
                        best={"ndg": None, "ndg_raw": None})  # fmt: skip
    drawn = {figure.name: files(figure) for figure in draw(list(RUNS), data, written.folder)}
    assert list(drawn) == [name for name in RUNS if name in drawn]
    assert set(drawn) >= {"runs_anytime", "runs_search_score", "runs_profile", "runs_ranks"}
    anytime = read_csv(str(drawn["runs_anytime"]["runs_anytime_data.csv"]))
    assert {row["axis"] for row in anytime} == {"iterations", "evaluations", "usd", "seconds"}
    assert {row["n_tasks"] for row in anytime} == {"2"}
    held = read_csv(str(drawn["runs_search_score"]["runs_search_score_data.csv"]))
    assert {row["task_id"] for row in held} == {"denoising"}
    assert max(float(row["search_score"]) for row in held) == 0.5


def test_runs_without_ndg_have_no_comparisons(written: WrittenRuns, data: Published) -> None:
    written.run("stopped", [{}], status="interrupted")
    assert list(draw(list(RUNS), data, written.folder)) == []


def test_one_look_for_a_model_in_all_figures(data: Published) -> None:
    found = model_looks(data)
    assert list(found) == ["Gemini-3.8-Flash", "GPT-5.6-Luna", "Qwen3.5-9B"]
    assert len({look.marker for look in found.values()}) == 3
    assert looks(["b", "a", "b"]) == looks(["a", "b"])


def test_legends_leave_out_what_is_shared() -> None:
    labels = [("m", 8, "evoduet", "gate=knowledge R=3"), ("m", 8, "evoduet", "gate=random R=3"),
              ("m", 8, "none", "")]  # fmt: skip
    assert list(method_names(labels).values()) == [
        "evoduet gate=knowledge", "evoduet gate=random", "none",
    ]  # fmt: skip
    assert full_names([("m", 1, "none"), ("m", 8, "none")])["m", 8, "none"] == "none, N = 8"
    assert full_names([("m", 1, "none"), ("k", 1, "none")])["k", 1, "none"] == "none, k"


def test_bars_join_what_does_not_differ() -> None:
    ranking = Ranking(tuple("abcd"), np.array([1.0, 2.0, 2.5, 4.0]), 9, 0.01, 1.6, None)
    assert cliques(ranking) == [(1.0, 2.5), (2.5, 4.0)]
    assert cliques(Ranking(("a", "b"), np.array([1.0, 2.0]), 9, None, None, None)) == []


def test_signs_of_labels() -> None:
    assert [signed(v) for v in (3.96, -0.5, 0.04, -0.04)] == ["+4.0", "−0.5", "0.0", "0.0"]
