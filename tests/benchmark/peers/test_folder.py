"""``evoduet adapt``: what the folders hold, and that they are written whole or not at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from toy_task import DECLARATION, write_toy_task

from benchmark.catalogue import find_task
from benchmark.peers import folder
from benchmark.peers.folder import SYSTEMS, contents, write

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed (pip install openevolve)")

SCRIPTS = {"openevolve": "evaluator.py", "skydiscover": "evaluator.py",
           "simpletes": "evaluator.py", "shinka": "evaluate.py"}  # fmt: skip
FLAT = [name for name in SYSTEMS if name != "harbor"]
"""Systems whose folder is one program, one evaluator, one instruction."""


def adapt(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmark.cli", "adapt", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("system", FLAT)
@pytest.mark.parametrize("name", ["cp26", "sums_diffs"])
def test_program_and_instruction_are_unchanged(system: str, name: str) -> None:
    task = find_task(name)
    files = contents(task, SYSTEMS[system])
    initial = "initial.py" if system == "shinka" else "initial_program.py"
    assert files[initial] == task.initial_program.read_bytes()
    assert files["instruction.md"].decode() == task.instructions
    compile(files[SCRIPTS[system]], SCRIPTS[system], "exec")
    assert f'"{task.id}"' in files[SCRIPTS[system]].decode()
    readme = files["README.md"].decode()
    command = SYSTEMS[system].command
    assert command is None or f"```\n{command(task)}\n```" in readme
    assert all(f"`{name}`" in readme for name in files if name != "README.md")


@pytest.mark.parametrize(
    ("section", "system"), [("prompt", "openevolve"), ("prompt", "skydiscover"), ("evo", "shinka")]
)
def test_the_instruction_is_the_system_message(section: str, system: str) -> None:
    task = find_task("cp26")
    config = yaml.safe_load(contents(task, SYSTEMS[system])["config.yaml"])
    key = "task_sys_msg" if system == "shinka" else "system_message"
    message = config[section][key]
    if system == "skydiscover":  # its prompt quotes a longer limit, so ours is said again
        assert message.startswith(task.instructions.rstrip())
        assert "after 530 seconds" in message
    else:
        assert message == task.instructions


def test_their_time_limit_is_longer_than_ours() -> None:
    task = find_task("cp26")
    limit = task.limits.wall_s
    for system in ("openevolve", "skydiscover"):
        config = yaml.safe_load(contents(task, SYSTEMS[system])["config.yaml"])
        assert config["evaluator"]["timeout"] >= limit + 60
    job = yaml.safe_load(contents(task, SYSTEMS["shinka"])["config.yaml"])["job"]
    hours, minutes, seconds = map(int, job["time"].split(":"))
    assert 3600 * hours + 60 * minutes + seconds >= limit + 60


@pytest.mark.parametrize(("language", "suffix"), [("cpp", ".cpp"), ("rust", ".rs")])
def test_compiled_languages_by_their_suffix(tmp_path: Path, language: str, suffix: str) -> None:
    declaration = DECLARATION.replace('language = "python"', f'language = "{language}"')
    place = tmp_path / "toys" / "vector"
    place.mkdir(parents=True)
    (place / f"initial{suffix}").write_text("int main() {}\n")
    write_rest = write_toy_task(tmp_path / "other", declaration=declaration)
    for name in ("task.toml", "instructions.md", "evaluator.py"):
        (write_rest / name).rename(place / name)
    task = find_task(str(place))
    for name in FLAT:
        system = SYSTEMS[name]
        files = contents(task, system)
        assert files[system.initial_stem + suffix] == b"int main() {}\n"
        assert str(place) in files[SCRIPTS[name]].decode()
        if "config.yaml" in files:
            config = yaml.safe_load(files["config.yaml"])
            assert config.get("evo", config)["language"] == language
            assert config.get("file_suffix", suffix) == suffix


def test_a_long_seed_may_grow(tmp_path: Path) -> None:
    place = write_toy_task(tmp_path)
    (place / "initial.py").write_text("x = 0\n" * 20_000)
    for system in ("openevolve", "skydiscover"):
        files = contents(find_task(str(place)), SYSTEMS[system])
        config = yaml.safe_load(files["config.yaml"])
        assert config.get("max_code_length", config.get("max_solution_length")) == 360_000


def test_the_command_writes_a_new_folder(toy: Path, tmp_path: Path) -> None:
    answer = adapt(toy, "--for", "openevolve", "--out", "new/place", "--json", cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    told = json.loads(answer.stdout)
    out = tmp_path / "new" / "place"
    assert (told["task"], told["system"], told["available"]) == ("toys/vector", "openevolve", True)
    assert sorted(path.name for path in out.iterdir()) == told["files"]
    assert told["command"].startswith("openevolve-run initial_program.py evaluator.py")
    assert [path.name for path in out.parent.iterdir()] == ["place"]
    assert out.stat().st_mode & 0o777 == 0o777 & ~folder._umask()


def test_text_output_names_the_command_and_what_is_missing(tmp_path: Path) -> None:
    declaration = 'requires = ["no_such_library"]\n' + DECLARATION
    place = write_toy_task(tmp_path, declaration=declaration)
    answer = adapt(place, "--for", "skydiscover", "--out", tmp_path / "out")
    assert answer.returncode == 0
    assert "skydiscover-run initial_program.py" in answer.stdout
    assert "no_such_library" in answer.stderr
    answer = adapt(place, "--for", "simpletes", "--out", tmp_path / "tes")
    assert str(tmp_path / "tes" / "README.md") in answer.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("TASK", "--for", "alphaevolve", "--out", "new"), ("--for alphaevolve", "simpletes")),
        (("cp_26", "--for", "shinka", "--out", "new"), ("did you mean", "cp26")),
        (("TASK", "--for", "shinka", "--out", "full"), ("full", "not empty")),
        (("TASK", "--for", "shinka", "--out", "full/file"), ("file", "not a folder")),
        (("TASK", "--for", "shinka", "--out", "full/file/new"), ("full/file/new: not written",)),
        (("TASK", "--for", "shinka", "--out", "/proc/new"), ("/proc/new: not written",)),
    ],
)
def test_bad_usage_is_one_line_exit_2_and_nothing_written(
    toy: Path, tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    answer = adapt(*(str(toy) if word == "TASK" else word for word in arguments), cwd=tmp_path)
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert answer.stderr.startswith("evoduet: ")
    assert answer.stderr.count("\n") == 1
    for word in words:
        assert word in answer.stderr
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("missing", ["--for", "--out"])
def test_both_options_are_needed(toy: Path, missing: str) -> None:
    given = {"--for": "shinka", "--out": "new"}
    del given[missing]
    answer = adapt(toy, *(word for pair in given.items() for word in pair))
    assert answer.returncode == 2
    assert missing in answer.stderr


def test_an_empty_folder_is_filled_in_place(tmp_path: Path) -> None:
    out = tmp_path / "empty"
    out.mkdir()
    inode = out.stat().st_ino
    write({"a": b"1"}, out)
    assert out.stat().st_ino == inode
    assert [path.name for path in out.iterdir()] == ["a"]


@pytest.mark.parametrize("there", [False, True])
def test_a_full_disk_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    out = tmp_path / "out"
    if there:
        out.mkdir()
    before = sorted(tmp_path.rglob("*"))
    real = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        real(path, content[:1])
        if path.name == "second":
            raise OSError(28, os.strerror(28), str(path))
        return len(content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=r"No space.*choose another place: '.*/out'"):
        write({"first": b"11", "second": b"22", "third": b"33"}, out)
    assert sorted(tmp_path.rglob("*")) == before


def test_help_shows_examples() -> None:
    answer = adapt("--help")
    assert answer.returncode == 0
    assert "evoduet adapt cp26 --for openevolve" in " ".join(answer.stdout.split())
