"""`evoduet tables` and `evoduet figures` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from published_copy import PublishedCopy, read_csv
from typer.testing import CliRunner, Result
from written_runs import WrittenRuns

from analysis.published import default_folder
from benchmark.cli import main
from benchmark.commands import figures, tables
from benchmark.commands.options import UsageProblem

app = typer.Typer(pretty_exceptions_enable=False)
app.command("tables")(tables.tables)
app.command("figures")(figures.figures)


def evoduet(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def refused(*arguments: str | Path) -> str:
    """The message of a usage problem, which the command line turns into exit code 2."""
    result = evoduet(*arguments)
    assert isinstance(result.exception, UsageProblem), result.exception
    return str(result.exception)


def test_headline_numbers_come_out(tmp_path: Path) -> None:
    result = evoduet("tables", "--out", tmp_path / "out", "--json")
    assert result.exit_code == 0, result.exception
    answer = json.loads(result.stdout)
    rows = {(r["model"], r["N"]): r for r in answer["figure_6a"]}
    assert rows["GPT-5.6-Luna", 1]["openevolve"] == pytest.approx(74.1, abs=0.05)
    assert rows["GPT-5.6-Luna", 1]["evoduet"] == pytest.approx(78.0, abs=0.05)
    assert rows["Gemini-3.8-Flash", 1]["openevolve"] == pytest.approx(61.3, abs=0.05)
    assert rows["Gemini-3.8-Flash", 1]["evoduet"] == pytest.approx(82.3, abs=0.05)
    assert sorted(answer["files"]) == sorted(p.name for p in (tmp_path / "out").iterdir())
    means = {(r["model"], r["method"]): float(r["mean_ndg"])
             for r in read_csv((tmp_path / "out" / "fig3a.csv").read_text())}  # fmt: skip
    assert means["Qwen3.5-9B", "OpenEvolve"] == pytest.approx(51.9, abs=0.05)
    assert means["Qwen3.5-9B", "OpenEvolve+Oracle"] == pytest.approx(62.2, abs=0.05)
    assert means["GPT-5.6-Luna", "OpenEvolve"] == pytest.approx(74.2, abs=0.05)
    assert means["GPT-5.6-Luna", "OpenEvolve+Oracle"] == pytest.approx(78.3, abs=0.05)


def test_text_shows_the_headline(tmp_path: Path) -> None:
    result = evoduet("tables", "--out", tmp_path / "out")
    assert "+21.0" in result.stdout
    assert f"{tmp_path / 'out'}: " in result.stdout.replace("\n", "")


@pytest.mark.parametrize("command", ["tables", "figures"])
def test_results_never_overwrite_the_data(
    copy: PublishedCopy, tmp_path: Path, command: str
) -> None:
    before = {path.name: path.read_bytes() for path in copy.folder.iterdir()}
    link = tmp_path / "link"
    link.symlink_to(copy.folder)
    for out in (copy.folder, link, copy.folder / ".." / "published"):
        message = refused(command, "--data", copy.folder, "--out", out)
        assert "is the folder of published numbers" in message
    assert "published numbers" in refused(command, "--out", default_folder())
    assert {path.name: path.read_bytes() for path in copy.folder.iterdir()} == before


def test_nothing_is_written_when_something_is_wrong(copy: PublishedCopy, tmp_path: Path) -> None:
    (copy.folder / "table13_best_programs.csv").unlink()
    out = tmp_path / "out"
    assert "table13_best_programs.csv: missing" in refused(
        "tables", "--data", copy.folder, "--out", out
    )
    assert "no figure fig99" in refused("figures", "--only", "fig99", "--out", out)
    assert "write --only before" in refused("figures", "fig3", "--out", out)
    assert "no folder of runs" in refused("tables", "--runs", tmp_path / "no", "--out", out)
    assert "not an anchors file" in refused(
        "tables", "--anchors", default_folder() / "table4_oracle.csv", "--out", out
    )
    assert not out.exists()
    out.write_text("a file")
    assert "is a file; name a folder" in refused("tables", "--out", out)


def test_published_files_are_the_same_with_own_runs(written: WrittenRuns, tmp_path: Path) -> None:
    written.run("a", [{"score": 2.0}], best={"ndg": 50.0})
    written.run("b", [{}], status="interrupted")
    evoduet("tables", "--out", tmp_path / "plain")
    result = evoduet("tables", "--out", tmp_path / "both", "--runs", written.folder)
    assert "b: interrupted after 1 of 1 iterations" in result.stderr
    plain = {path.name: path.read_bytes() for path in (tmp_path / "plain").iterdir()}
    both = {path.name: path.read_bytes() for path in (tmp_path / "both").iterdir()}
    assert {name: both[name] for name in plain} == plain
    assert {"runs.csv", "fig8_rates.csv", "flags.csv"} <= set(both) - set(plain)


def test_the_command_line_leaves_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("tables", "figures"):
        with pytest.raises(SystemExit) as leaving:
            main([command, "--data", str(tmp_path / "nowhere"), "--out", str(tmp_path / "out")])
        assert leaving.value.code == 2
        assert "nowhere: no folder of published numbers" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_several_names_may_follow_only(tmp_path: Path) -> None:
    result = evoduet("figures", "--out", tmp_path, "--json", "--only", "ranks", "fig7")
    assert result.exit_code == 0, result.exception
    names = {Path(name).stem for name in json.loads(result.stdout)["files"]}
    assert names == {"fig7", "fig7_published", "fig7_tasks", "ranks"}
    again = evoduet("figures", "--out", tmp_path / "two", "--only", "ranks", "--only", "fig7")
    assert again.exit_code == 0
    for path in (tmp_path / "two").iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()


def test_help_gives_examples() -> None:
    for command in ("tables", "figures"):
        text = evoduet(command, "--help").stdout
        assert f"evoduet {command} --out" in text
