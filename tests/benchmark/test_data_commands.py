"""``evoduet data`` as a user meets it, and what a task without its data answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from local_mirror import (
    MIRRORED,
    WEIGHT,
    LocalMirror,
    declared,
    folder_with,
    local_mirror,
    source,
    visible_files,
    write_data_task,
)
from shared_data import REPOSITORY, require_shared

from benchmark.sandbox import bubblewrap
from benchmark.sandbox.jail import SandboxBroken

Answer = subprocess.CompletedProcess[str]
Run = Callable[..., Answer]
NOWHERE = "http://127.0.0.1:9"  # the discard port: nobody answers there
OPTIONAL = declared(name="extra.bin", variants="[]", mirror="", source=source(f"{NOWHERE}/e"))
EMBEDDED = '["official", "embedded"]'


@pytest.fixture
def evoduet(tmp_path: Path) -> Run:
    """Runs the command with a cache of its own; ``mirror`` names a folder or an address."""

    def run(*arguments: object, mirror: object = "", prefix: tuple[str, ...] = ()) -> Answer:
        environment = {
            **os.environ,
            "EVODUET_DATA": str(tmp_path / "cache"),
            "EVODUET_DATA_MIRROR": str(mirror),
            "NO_PROXY": "127.0.0.1",
            "COLUMNS": "160",
        }
        command = [*prefix, sys.executable, "-m", "benchmark.cli", *map(str, arguments)]
        return subprocess.run(
            command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False
        )

    return run


@pytest.fixture
def server() -> Iterator[LocalMirror]:
    """A mirror on loopback that has the toy task's file."""
    with local_mirror() as mirror:
        mirror.files[MIRRORED] = WEIGHT
        yield mirror


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text("def run_code():\n    return [1.0, 0.5]\n")
    return path


def read(answer: Answer) -> dict[str, Any]:
    """The one JSON object on stdout."""
    assert answer.stdout.count("\n") == 1, answer.stderr
    content: dict[str, Any] = json.loads(answer.stdout)
    return content


def states(answer: Answer) -> list[str]:
    (task,) = read(answer)["tasks"]
    return [file["state"] for file in task["files"]]


# --- status ---------------------------------------------------------------------------------------


def test_status_says_what_is_missing_and_which_variant_runs(evoduet: Run, tmp_path: Path) -> None:
    task = write_data_task(tmp_path, variants=EMBEDDED).folder
    answer = evoduet("data", "status", task)
    assert answer.returncode == 0
    assert "missing" in answer.stdout
    assert "toys/vector runs on its embedded data: " in answer.stdout
    assert "`evoduet data fetch toys/vector`" in answer.stdout
    (content,) = read(evoduet("data", "status", task, "--json"))["tasks"]
    assert content["variant"] == "embedded"
    assert content["available"] is True
    assert content["missing"] == ["weight.json"]
    assert content["files"][0]["licence"] == "CC0"
    assert not (tmp_path / "cache").exists()


def test_status_says_when_a_task_cannot_run(evoduet: Run, tmp_path: Path) -> None:
    task = write_data_task(tmp_path).folder
    answer = evoduet("data", "status", task)
    assert answer.returncode == 0
    assert "unavailable" in answer.stdout
    assert "toys/vector cannot run: set EVODUET_DATA_MIRROR" in answer.stdout
    (content,) = read(evoduet("data", "status", task, "--json"))["tasks"]
    assert (content["variant"], content["available"]) == (None, False)


def test_status_of_all_tasks_with_the_mirror(evoduet: Run) -> None:
    tasks = read(evoduet("data", "status", "--json", mirror=require_shared() / "data"))["tasks"]
    assert all(task["files"] for task in tasks)
    found = {task["task"]: (task["variant"], task["missing"]) for task in tasks}
    for name in ("perovskites", "feynman_i_27_6", "baumgartner"):
        assert found[f"simple_science/{name}"] == ("official", [])


def test_status_on_a_fresh_machine(evoduet: Run) -> None:
    answer = evoduet("data", "status", "simple_science", "--json")
    found = {task["task"].rpartition("/")[2]: task for task in read(answer)["tasks"]}
    assert len(found) == 10
    assert {name for name, task in found.items() if not task["available"]} == {
        "perovskites",
        "baumgartner",
    }
    assert {file["state"] for file in found["feynman_i_27_6"]["files"]} == {"rebuild"}
    text = evoduet("data", "status", "perovskites").stdout
    assert "cannot run: run `evoduet data fetch simple_science/perovskites`" in text


def test_a_mirror_folder_that_is_not_there_is_named(evoduet: Run, tmp_path: Path) -> None:
    task = write_data_task(tmp_path).folder
    answer = evoduet("data", "status", task, mirror=tmp_path / "nowhere")
    assert f"EVODUET_DATA_MIRROR names no folder: {tmp_path / 'nowhere'}" in answer.stdout


# --- fetch ----------------------------------------------------------------------------------------


def test_fetch_from_an_address_then_work_without_it(
    evoduet: Run, server: LocalMirror, program: Path, tmp_path: Path
) -> None:
    task = write_data_task(tmp_path).folder
    answer = evoduet("data", "fetch", task, mirror=server.url)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "in the cache" in answer.stdout
    assert states(evoduet("data", "status", task, "--json")) == ["cache"]
    score = read(evoduet("score", task, program, "--json"))
    assert score["search"] == 3.75


def test_fetch_from_a_folder(evoduet: Run, tmp_path: Path) -> None:
    task = write_data_task(tmp_path).folder
    answer = evoduet("data", "fetch", task, "--json", mirror=folder_with(tmp_path))
    assert answer.returncode == 0
    assert states(answer) == ["cache"]
    assert visible_files(tmp_path / "cache") == [MIRRORED]


def test_fetch_that_fails_says_why_with_exit_3(
    evoduet: Run, server: LocalMirror, tmp_path: Path
) -> None:
    server.files[MIRRORED] = b"99\n"
    task = write_data_task(tmp_path, declared(source=source(f"{NOWHERE}/w"))).folder
    answer = evoduet("data", "fetch", task, mirror=server.url)
    assert answer.returncode == 3
    assert "Traceback" not in answer.stderr
    assert f"the mirror: {server.url}/{MIRRORED}: wrong sha256" in answer.stdout
    assert f"its public source: {NOWHERE}/w: " in answer.stdout
    assert visible_files(tmp_path / "cache") == []


def test_fetch_of_what_has_no_source_is_exit_3(evoduet: Run, tmp_path: Path) -> None:
    answer = evoduet("data", "fetch", write_data_task(tmp_path).folder)
    assert answer.returncode == 3
    assert "no public source, and EVODUET_DATA_MIRROR is not set" in answer.stdout


def test_the_others_are_kept_when_one_cannot_be_had(
    evoduet: Run, server: LocalMirror, tmp_path: Path
) -> None:
    other = declared(b"other", name="other.txt", mirror="", source=source(f"{NOWHERE}/o", b"other"))
    task = write_data_task(tmp_path, declared(), other).folder
    answer = evoduet("data", "fetch", task, "--json", mirror=server.url)
    assert answer.returncode == 3
    assert states(answer) == ["cache", "missing"]


def test_files_of_an_option_come_when_their_task_alone_is_named(
    evoduet: Run, server: LocalMirror, tmp_path: Path
) -> None:
    first = write_data_task(tmp_path / "a", declared(), OPTIONAL).folder
    second = write_data_task(tmp_path / "a", declared(), OPTIONAL, name="other").folder
    answer = evoduet("data", "fetch", f"{first},{second}", mirror=server.url)
    assert answer.returncode == 0
    assert "not here, only for an option" in answer.stdout
    assert evoduet("data", "fetch", first, mirror=server.url).returncode == 3
    (content,) = read(evoduet("data", "status", first, "--json"))["tasks"]
    assert (content["variant"], content["missing"]) == ("official", [])


def test_a_variant_is_fetched_by_name(evoduet: Run, server: LocalMirror, tmp_path: Path) -> None:
    partial = declared(name="partial.json", variants='["partial"]')
    official = declared(b"9", mirror="", source=source(f"{NOWHERE}/w"))
    variants = '["official", "partial"]'
    task = write_data_task(tmp_path, official, partial, variants=variants).folder
    answer = evoduet("data", "fetch", task, "--variant", "partial", "--json", mirror=server.url)
    assert answer.returncode == 0
    assert states(answer) == ["missing", "cache"]
    assert read(answer)["tasks"][0]["variant"] == "partial"
    answer = evoduet("data", "fetch", task, "--variant", "embedded")
    assert answer.returncode == 2
    assert answer.stderr == "evoduet: --variant embedded: toys/vector has official, partial\n"


def test_an_unknown_task_is_exit_2(evoduet: Run) -> None:
    for command in ("status", "fetch", "verify", "where"):
        answer = evoduet("data", command, "perovskite")
        assert answer.returncode == 2
        assert "did you mean" in answer.stderr


# --- verify and where -----------------------------------------------------------------------------


def test_verify_reads_everything_again(evoduet: Run, server: LocalMirror, tmp_path: Path) -> None:
    task = write_data_task(tmp_path).folder
    assert evoduet("data", "verify", task).returncode == 3
    evoduet("data", "fetch", task, mirror=server.url)
    assert evoduet("data", "verify", task).returncode == 0
    (tmp_path / "cache" / MIRRORED).write_bytes(b"99\n")
    answer = evoduet("data", "verify", task)
    assert answer.returncode == 3
    assert "the copy in the cache has a wrong checksum" in answer.stdout
    assert states(evoduet("data", "verify", task, "--json")) == ["wrong"]


def test_verify_is_content_with_the_variant_that_runs(evoduet: Run, tmp_path: Path) -> None:
    task = write_data_task(tmp_path, variants=EMBEDDED).folder
    assert evoduet("data", "verify", task).returncode == 0


def test_where_names_the_folders(evoduet: Run, tmp_path: Path) -> None:
    task, mirror = write_data_task(tmp_path).folder, folder_with(tmp_path)
    content = read(evoduet("data", "where", "--json"))
    assert content == {"cache": str(tmp_path / "cache"), "mirror": None}
    content = read(evoduet("data", "where", task, "--json", mirror=mirror))
    assert content["files"] == {"toys/vector/weight.json": str(mirror / MIRRORED)}
    text = evoduet("data", "where", task).stdout
    assert str(tmp_path / "cache" / MIRRORED) in text
    assert "EVODUET_DATA_MIRROR" in text


@pytest.mark.parametrize("command", ["status", "fetch", "verify", "where"])
def test_help_has_examples(command: str, evoduet: Run) -> None:
    answer = evoduet("data", command, "--help")
    assert answer.returncode == 0
    assert f"evoduet data {command}" in answer.stdout.partition("Examples:")[2]


# --- tasks without their data ---------------------------------------------------------------------


def test_scoring_without_data_is_exit_3_with_the_command(evoduet: Run) -> None:
    program = REPOSITORY / "tasks" / "simple_science" / "perovskites" / "initial.py"
    answer = evoduet("score", "perovskites", program)
    assert answer.returncode == 3
    assert "`evoduet data fetch simple_science/perovskites`" in answer.stdout
    assert "EVODUET_DATA_MIRROR" in answer.stdout
    score = read(evoduet("score", "perovskites", program, "--json"))
    assert score["status"] == "unavailable"
    assert [score[name] for name in ("search", "objective", "ndg")] == [None] * 3


# --- a cache that cannot be written ---------------------------------------------------------------


@pytest.fixture
def read_only(tmp_path: Path) -> tuple[str, ...]:
    """The command that runs another one for which the cache is read-only."""
    cache = str(tmp_path / "cache")
    Path(cache).mkdir()
    try:
        prefix = (bubblewrap.executable(), "--dev-bind", "/", "/", "--ro-bind", cache, cache)
    except SandboxBroken as broken:
        pytest.skip(str(broken))
    if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("bubblewrap cannot make a folder read-only here")
    return prefix


def test_a_full_read_only_cache_is_enough(
    evoduet: Run, server: LocalMirror, tmp_path: Path, read_only: tuple[str, ...]
) -> None:
    task = write_data_task(tmp_path).folder
    evoduet("data", "fetch", task, mirror=server.url)
    artifact = tmp_path / "artifact.json"
    artifact.write_text("[1.0, 0.5]")
    for marks in (tmp_path / "cache" / ".checked").iterdir():
        marks.unlink()
    score = read(evoduet("score", task, "--artifact", artifact, "--json", prefix=read_only))
    assert score["search"] == 3.75
    assert evoduet("data", "verify", task, prefix=read_only).returncode == 0


def test_an_empty_read_only_cache_says_what_to_do(
    evoduet: Run, server: LocalMirror, tmp_path: Path, read_only: tuple[str, ...]
) -> None:
    task = write_data_task(tmp_path).folder
    answer = evoduet("data", "fetch", task, mirror=server.url, prefix=read_only)
    assert (answer.returncode, answer.stdout) == (3, "")
    assert answer.stderr.startswith(f"evoduet: {tmp_path / 'cache'}")
    assert "Read-only file system; set EVODUET_DATA to a folder" in answer.stderr
    assert evoduet("data", "status", task, prefix=read_only).returncode == 0
    assert server.asked == []


def test_a_mirror_folder_needs_no_cache(
    evoduet: Run, tmp_path: Path, read_only: tuple[str, ...]
) -> None:
    task, mirror = write_data_task(tmp_path).folder, folder_with(tmp_path)
    artifact = tmp_path / "artifact.json"
    artifact.write_text("[1.0, 0.5]")
    arguments = ("score", task, "--artifact", artifact, "--json")
    assert read(evoduet(*arguments, mirror=mirror, prefix=read_only))["search"] == 3.75


def test_a_cache_below_a_file_says_what_to_do(evoduet: Run, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way")
    answer = evoduet(
        "data", "fetch", write_data_task(tmp_path).folder, mirror=folder_with(tmp_path)
    )
    assert answer.returncode == 3
    assert "set EVODUET_DATA to a folder" in answer.stderr
