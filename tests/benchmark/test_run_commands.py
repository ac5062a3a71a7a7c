"""The command line of runs: options, their other names, presets, extending, export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from benchmark.cli import app
from benchmark.cli import main as command_line
from benchmark.commands.run_options import configuration
from method.journal import read_journal
from method.scaffolds.packages import PackageProblem


def evoduet(*words: str) -> str:
    answer = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def refused(capsys: pytest.CaptureFixture[str], *words: str, code: int = 2) -> str:
    """The one line of a usage error, or of what is missing."""
    with pytest.raises(SystemExit) as ended:
        command_line(list(words))
    assert ended.value.code == code
    said = capsys.readouterr().err
    assert said.startswith("evoduet: ")
    assert said.count("\n") == 1
    return said


def kept(folder: Path) -> dict[str, Any]:
    """The configuration in a run's manifest."""
    found: dict[str, Any] = read_journal(folder)[0].data["config"]
    return found


COMMON = ("run", "--task", "cp26", "--model", "offline/perturb", "--json")


def test_what_is_missing_is_no_usage_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    words = ("run", "--task", "cp26", "--json", "--out", str(out), "--model")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "OPENAI_API_KEY" in refused(capsys, *words, "openai/gpt-5.6-luna", code=3)
    monkeypatch.setattr("method.registry.require_package", missing)
    said = refused(capsys, *words, "offline/perturb", "--method", "evox+none", code=3)
    assert "pip install 'evoduet[skydiscover]'" in said
    assert not out.exists()


def missing(name: str, versions: str) -> None:
    raise PackageProblem(f"needs {name} {versions}: pip install 'evoduet[{name}]'")


def test_what_must_be_given(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "--task" in refused(capsys, "run")
    assert "offline/perturb" in refused(capsys, "run", "--task", "cp26")
    (tmp_path / "notes.txt").write_text("mine")
    assert "is not empty" in refused(capsys, *COMMON, "--out", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    other = ("run", "--task", "cp26", "--model", "offline/other", "--out", str(tmp_path / "new"))
    assert "there is no such stand-in, but offline/perturb" in refused(capsys, *other, "--json")


def test_letters_names_and_files_give_the_same_run(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text('task = "cp26"\nmodel = "offline/perturb"\nR = 1\nJ = 2\nM = 3\nD = 2\n'
                    'N = 2\nT = 1\nedit = "full"\nseed = 5\nisolation = "process"\n')  # fmt: skip
    spellings = {
        "letters": ("-R", "1", "-J", "2", "-M", "3", "-D", "2", "-N", "2", "-T", "1"),
        "theirs": ("--inner-rounds", "1", "--query-count", "2", "--documents-per-query", "3",
                   "--search-top-k", "2", "--num-generations", "2", "--iterations", "1"),
        "ours": ("--rounds", "1", "--queries", "2", "--per-query", "3", "--retain", "2",
                 "--candidates", "2", "--iterations", "1"),
        "keys": ("--option", "R=1", "--option", "queries=2", "--option", "M=3", "--option", "D=2",
                 "--option", "N=2", "--option", "T=1"),
    }  # fmt: skip
    evoduet("run", "--config", str(file), "--json", "--out", str(tmp_path / "file"))
    for name, words in spellings.items():
        evoduet(*COMMON, *words, "--edit", "full", "--seed", "5", "--isolation", "process",
                "--out", str(tmp_path / name))  # fmt: skip
        assert kept(tmp_path / name) == kept(tmp_path / "file"), name
    assert kept(tmp_path / "file")["isolation"] == "process"


def test_presets_and_keys_on_the_command_line() -> None:
    def config(
        *presets: str, released: bool = False, keys: tuple[str, ...] = (), **more: Any
    ) -> Any:
        return configuration(
            None, list(presets), released, list(keys), task="cp26", model="m", **more
        )

    assert config("N16", "R5").presets == ("N16", "R5")
    assert config("N16", candidates=2).candidates == 2
    assert config(released=True).presets == ("as-released",)
    assert config(released=True).client.params == "release"
    given = config(keys=("sampling.temperature=0.2", "switches.gate.parser=chain",
                         "report_iterations=[1, 2]", "on_outage=continue"))  # fmt: skip
    assert given.sampling.temperature == 0.2
    assert given.switches == {"gate.parser": "chain"}
    assert (given.report_iterations, given.on_outage) == ((1, 2), "continue")


def test_presets_are_listed() -> None:
    rows = json.loads(evoduet("plan", "--presets", "--json"))["presets"]
    assert {row["name"] for row in rows} >= {"N1", "N16", "J3k5", "random-gate", "as-released"}
    shown = evoduet("plan", "--presets")
    assert "candidates = 16" in shown
    assert "params: release" in shown
    many = json.loads(evoduet("plan", "--task", "cp26", "--preset", "N16", "--json"))
    assert many["model_calls"] == 100 * (8 + 3 * 16)


def test_extend_and_export(tmp_path: Path) -> None:
    folder, out = str(tmp_path / "run"), str(tmp_path / "checkpoint")
    evoduet(*COMMON, "-T", "2", "-N", "1", "--out", folder)
    longer = json.loads(evoduet("resume", folder, "--iterations", "3", "--json"))
    assert (longer["T"], longer["done"]) == (3, 3)
    evoduet("replay", folder)
    written = json.loads(
        evoduet("export", folder, "--format", "openevolve", "--out", out, "--json")
    )
    assert len(list((tmp_path / "checkpoint" / "programs").iterdir())) == written["programs"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "--task", "cp26"), "model"),
        (("run", "--task", "cp26", "--model", "m", "--preset", "N3"), "unknown preset 'N3'"),
        (("run", "--task", "cp26", "--model", "m", "--option", "roundz=1"), "roundz: unknown key"),
        (("run", "--task", "cp26", "--model", "m", "--option", "rounds"), "write it as KEY=VALUE"),
        (("run", "--task", "cp26", "--model", "m", "--option", "R=1", "-R", "2"), "option of its"),
        (
            ("run", "--task", "cp26", "--model", "m", "--option", "switches.gate.parsr=chain"),
            "switches: gate.parsr: unknown switch (known: gate.parser,",
        ),
        (
            ("run", "--task", "cp26", "--model", "m", "--option", "switches.gate.parser=loose"),
            "switches: gate.parser: Input should be 'strict' or 'chain'",
        ),
        (("run", "--task", "cp26", "--command", "nothing-there-at-all"), "no such program"),
        (("resume", "/nowhere", "-T", "5"), "no run there"),
        (("export", "/nowhere", "--out", "x"), "no run there"),
        (("export", "/nowhere", "--out", "x", "--format", "shinka"), "--format shinka: use"),
    ],
)
def test_usage_errors(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert message in refused(capsys, *words)


def test_a_file_is_named_with_its_key(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    common = 'task = "cp26"\nmodel = "offline/perturb"\n'
    for tail, key in {
        "roundz = 1": "roundz: unknown key",
        '[switches]\n"gate.parsr" = "chain"': "switches: gate.parsr: unknown switch",
        "[sampling]\ntemprature = 1": "sampling.temprature: unknown key",
        "[scaffold_options]\nislands = 2": "scaffold_options: islands: unknown option",
    }.items():
        file = tmp_path / "run.toml"
        file.write_text(common + tail)
        said = refused(capsys, "run", "--config", str(file), "--out", str(tmp_path / "run"))
        assert f"{file}: {key}" in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "script", "message"),
    [
        ("s.toml", 'gate = "no list"', "s.toml: gate: must be a list of texts"),
        ("s.toml", "gate = []", "s.toml: gate: must be a list of texts"),
        ("s.toml", "gate =", "s.toml: not TOML"),
        ("s.yaml", "gate: [", "s.yaml: not YAML"),
        ("s.yaml", "gate: ['{}']", "has no answer for calls of purpose generation"),
    ],
)
def test_a_script_that_cannot_be_used(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, script: str, message: str
) -> None:
    (tmp_path / name).write_text(script)
    said = refused(capsys, "run", "--task", "cp26", "--model", f"scripted:{tmp_path / name}",
                   "--out", str(tmp_path / "run"))  # fmt: skip
    assert message in said


def test_plan_takes_what_configures_a_run(tmp_path: Path) -> None:
    shared = ("--task", "cp26", "--method", "topk+evoduet", "--rules", "robust", "--edit", "full",
              "--gate", "random", "--rounds", "2", "--queries", "2", "--per-query", "3",
              "--retain", "2", "--candidates", "2", "--iterations", "4", "--seed", "7",
              "--max-cost", "1", "--max-hours", "1", "--no-blocklist", "--json")  # fmt: skip
    bound = json.loads(evoduet("plan", *shared))
    assert (bound["model_calls"], bound["searches"]) == (4 * (2 * 2 + 2 + 2 + 3 * 2), 4 * 4)
    done = json.loads(evoduet("run", "--model", "offline/perturb", *shared,
                              "--out", str(tmp_path / "run")))  # fmt: skip
    calls = sum(row["calls"] for row in done["usage"]["by_purpose"].values())
    assert calls <= bound["model_calls"]
    assert kept(tmp_path / "run")["blocklist"] is False


def test_trace_and_best_print_one_object(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    summary = json.loads(evoduet(*COMMON, "-T", "2", "-N", "1", "--out", str(folder)))
    assert summary == json.loads((folder / "summary.json").read_text())
    shown = json.loads(evoduet("trace", str(folder), "--json"))
    assert [row["t"] for row in shown["iterations"]] == [1, 2]
    best = json.loads(evoduet("best", str(folder), "--json"))
    assert best["best"] == summary["best"]
    evoduet("best", str(folder), "--out", str(tmp_path / "best.py"))
    assert (tmp_path / "best.py").read_text() == best["program"]
    trace = folder / "trace.jsonl"
    whole = trace.read_text()
    for damage in (whole[:-20], whole.replace('"new_best"', '"newest"', 1), whole + "[]\n"):
        trace.write_text(damage)
        assert f"{trace}: line " in refused(capsys, "trace", str(folder))
    trace.unlink()
    evoduet("trace", str(folder))
    assert trace.read_text() == whole
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "trace.jsonl").write_text(whole)
    assert json.loads(evoduet("trace", str(tmp_path / "foreign"), "--json"))["valid"]


def test_runs_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    evoduet(*COMMON, "-T", "1", "-N", "1", "--out", str(tmp_path / "good"))
    for name, content in {"empty": "", "damaged": '{"seq": 0}\n{"seq": 1}\n'}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "journal.jsonl").write_text(content)
    answer = CliRunner().invoke(app, ["runs", str(tmp_path), "--json"], catch_exceptions=False)
    listed = json.loads(answer.stdout)
    assert [Path(row["run"]).name for row in listed["runs"]] == ["good"]
    assert [Path(row["run"]).name for row in listed["unreadable"]] == ["damaged", "empty"]
    assert answer.stderr.count("left out: ") == 2
