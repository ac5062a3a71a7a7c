"""Figures from traces: all are drawn, with their data, the same bytes for the same runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from published_copy import read_csv
from synthetic_traces import Made, SyntheticRuns, candidate, counted, page, slot
from typer.testing import CliRunner

from analysis.figures.build import choose, draw, files
from analysis.figures.fig14 import width
from analysis.published import Published
from benchmark.cli import app

NAMES = ["runs_fig4", "fig8", "fig10", "fig11", "fig12", "fig13", "fig14", "fig15", "fig16"]
TASKS = ("cp26", "rosetta", "swap_reduction", "denoising")


def slots_of(seed: int) -> list[Made | None]:
    """A bit of everything, other for every seed."""
    step = 0.001 * seed
    return [
        slot("retrieve", parent=0.5, child=0.6 + step, queries=["円の充填"],
             returned=["https://arxiv.org/1", "https://github.com/1"],
             documents=[page("one", predicted=0.7 + step)]),
        slot("look-up", parent=0.6, child=0.5, documents=[page("one", first_t=1)],
             unresolved=["doc_x"]),
        slot("no-op", parent=0.5, candidates=[candidate(status="invalid")]),
        slot("retrieve", parent=0.6, child=0.65 + 2 * step, queries=["q"],
             returned=[f"https://site{seed}.org/"], documents=[page("two", predicted=0.5)]),
        slot("missing", parent=0.5), None,
        slot("retrieve", parent=0.5, child=0.4 + 3 * step, queries=["r"],
             returned=["https://github.com/1"], documents=[page("one", predicted=0.45 - step)]),
    ]  # fmt: skip


def fill(runs: SyntheticRuns, order: int = 1) -> SyntheticRuns:
    cells = [(task, model, n) for task in TASKS for model in ("m1", "m2") for n in (1, 8)]
    for place, (seed, (task, model, n)) in enumerate(list(enumerate(cells))[::order]):
        folder = runs.run(f"f{place:02}", slots_of(seed), task=task, model=model, n=n)
        for path in (folder / name for name in ("journal.jsonl", "trace.jsonl", "summary.json")):
            path.write_text(path.read_text().replace(f'"f{place:02}"', f'"run{seed}"'))
    return runs


@pytest.fixture(scope="module")
def drawn(
    tmp_path_factory: pytest.TempPathFactory, data: Published
) -> dict[str, dict[str, str | bytes]]:
    runs = fill(SyntheticRuns(tmp_path_factory.mktemp("runs") / "own"))
    return {figure.name: files(figure) for figure in draw(NAMES, data, runs.folder)}


def test_every_figure_has_pictures_and_data(drawn: dict[str, dict[str, str | bytes]]) -> None:
    assert list(drawn) == NAMES
    for name, content in drawn.items():
        assert {f"{name}.pdf", f"{name}.svg", f"{name}.png"} < set(content)
        tables = [text for file, text in content.items() if file.endswith(".csv")]
        assert tables
        for table in tables:
            assert isinstance(table, str)
            assert len(table.splitlines()) > 1


def test_domains_are_spread_over_figures_11_and_12(
    drawn: dict[str, dict[str, str | bytes]],
) -> None:
    def domains(name: str) -> set[str]:
        return {row["domain"] for row in read_csv(str(drawn[name][f"{name}_hosts.csv"]))}

    assert domains("fig11") == {"Quantum compilation", "Astrodynamics", "Scientific algorithms"}
    assert domains("fig12") == {"Mathematics"}


def test_figures_and_tables_show_the_same_numbers(
    drawn: dict[str, dict[str, str | bytes]], synthetic: SyntheticRuns
) -> None:
    tables = counted(fill(synthetic))
    shared = {
        file: text
        for content in drawn.values()
        for file, text in content.items()
        if file.removesuffix(".csv") in tables
    }
    assert {"fig8_rates.csv", "fig8_corr.csv", "fig13.csv", "fig14.csv", "fig15.csv", "fig16.csv",
            "fig10_queries.csv"} < set(shared)  # fmt: skip
    for file, text in shared.items():
        if not file.startswith("search_"):  # the figure shows complete runs on common tasks
            assert text == tables[file.removesuffix(".csv")], file


def test_the_order_of_runs_changes_no_byte(
    drawn: dict[str, dict[str, str | bytes]], synthetic: SyntheticRuns, data: Published
) -> None:
    fill(synthetic, order=-1)
    again = {figure.name: files(figure) for figure in draw(NAMES, data, synthetic.folder)}
    assert again == drawn


def test_nothing_to_show_is_no_figure(synthetic: SyntheticRuns, data: Published) -> None:
    synthetic.run("a", [slot(None, child=0.6)], method="openevolve-native+none")
    synthetic.run("b", [slot("no-op", kind="always")], gate="always")
    notes: list[str] = []
    assert list(draw(NAMES, data, synthetic.folder, notes=notes)) == []
    assert notes == [
        "1 runs with the gate always are not in the statistics of decisions: a rule decides",
        f"not drawn, because the runs have nothing to show: {', '.join(NAMES)}",
    ]


def test_few_runs_are_drawn_too(synthetic: SyntheticRuns, data: Published) -> None:
    synthetic.run("a", [slot("no-op", child=0.6), slot("retrieve", parent=0.6)], n=8)
    names = [figure.name for figure in draw(NAMES, data, synthetic.folder)]
    assert names == ["fig8", "fig13", "fig16"]


def test_lines_are_as_wide_as_the_root_of_their_share() -> None:
    assert width(0.25) == pytest.approx(width(1.0) / 2)


def test_names_are_known_with_runs_alone() -> None:
    assert set(NAMES) <= set(choose([], runs=True))
    assert not set(NAMES) & set(choose([], runs=False))


def test_commands_tell_of_traces_that_are_left_out(synthetic: SyntheticRuns) -> None:
    synthetic.run("good", [slot("no-op", child=0.6)])
    torn, empty = (synthetic.run(name, [slot(), slot()]) for name in ("torn", "empty"))
    path = torn / "trace.jsonl"
    path.write_text(path.read_text()[:-9])
    (empty / "trace.jsonl").write_text("")
    out = synthetic.folder.with_name("out")
    for command in (("tables",), ("figures", "--only", "fig13", "fig16")):
        arguments = [*command, "--runs", str(synthetic.folder), "--out", str(out)]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, result.output
        assert "torn: the last line of its trace is torn" in result.stderr
        assert "the trace is empty, no iteration has closed yet" in result.stderr
    for name in ("fig8_rates", "fig8_corr", "fig13", "fig14", "fig15", "fig16", "hosts", "flags"):
        assert (out / f"{name}.csv").is_file()
    assert _header(out / "flags.csv") == "run_id,flag,first_t,evidence"


def _header(path: Path) -> str:
    return path.read_text().splitlines()[0]
