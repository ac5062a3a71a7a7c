"""`evoduet verify` on runs and bundles: each kind of change is caught with its own message."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_task import LocalModel, LocalSearch, config
from toy_task import write_toy_task

from benchmark.catalogue import find_task
from benchmark.harness import Harness
from method.bundle import bundle
from method.journal import FILE_NAME, read_journal
from method.protocols import Completion, Request
from method.references import references
from method.runs import Clients, best_program, run

Change = Callable[[Path], None]


class Numbers(LocalModel):
    """Answers with programs of the toy task; now and then one that is not valid."""

    async def sample(self, request: Request) -> list[Completion]:
        answers = await super().sample(request)
        return [
            Completion(text=a.text.replace("VALUE = ", "run_code = lambda: [0.5, ").replace(
                "\n```", "]\n```") if request.purpose == "generation" else a.text, cost_usd=0.01)
            for a in answers
        ]  # fmt: skip


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy_task(tmp_path_factory.mktemp("tasks"))


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with Harness() as made:
        yield made


@pytest.fixture(scope="module")
def finished(task: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on the toy task, evaluated in the real harness."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    given = config(task=str(task), method="evoduet", iterations=4, candidates=2)
    result = run(given, folder, clients=Clients(Numbers(), LocalSearch(), None))
    assert result.summary["best"]["t"] > 0
    return folder


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "copy")
    return tmp_path / "copy"


def best_result(run: Path) -> dict[str, Any]:
    """The evaluation of a run's best program, as its journal has it."""
    best = json.loads((run / "summary.json").read_text())["best"]
    (result,) = (
        event.data["result"]
        for event in read_journal(run)
        if event.name == "evaluation"
        and event.data["result"]["search_score"] == best["search_score"]
    )
    return dict(result)


def verify(target: Path, *options: str, **env: str) -> tuple[int, list[dict[str, Any]]]:
    answer = subprocess.run(
        [sys.executable, "-m", "benchmark.cli", "verify", str(target), "--json", *options],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **env},
    )
    assert answer.stdout, answer.stderr
    return answer.returncode, json.loads(answer.stdout)["verified"][0]["checks"]


def differing(checks: list[dict[str, Any]]) -> dict[str, str]:
    return {c["name"]: c["message"] for c in checks if c["outcome"] == "differs"}


def names(checks: list[dict[str, Any]], outcome: str) -> set[str]:
    return {check["name"] for check in checks if check["outcome"] == outcome}


def test_an_untouched_run_is_identical(finished: Path) -> None:
    code, checks = verify(finished)
    assert (code, differing(checks)) == (0, {})
    expected = {"journal", "blobs", "summary", "trace", "evaluator", "artifact", "search",
                "objective", "replay"}  # fmt: skip
    assert expected <= names(checks, "same")
    assert not any("evaluated again" in check.get("message", "") for check in checks)


def test_without_its_artifact_the_best_program_is_evaluated_again(copy: Path) -> None:
    shutil.rmtree(copy / "artifacts")
    code, checks = verify(copy)
    assert (code, differing(checks)) == (0, {})
    assert {"program", "search", "objective"} <= names(checks, "same")
    assert any("evaluated again" in check.get("message", "") for check in checks)


@pytest.mark.parametrize("suffix", [".tar.gz", ".tar.zst"])
@pytest.mark.parametrize("with_pages", [False, True])
def test_a_bundle_is_verified_without_its_run(
    finished: Path, task: Path, tmp_path: Path, suffix: str, with_pages: bool
) -> None:
    out = tmp_path / f"b{suffix}"
    bundle(finished, out, with_pages=with_pages)
    code, checks = verify(out)
    assert code == 3  # a task is code: one that is in no installed package has to be named
    assert "--task" in next(check["message"] for check in checks if check["name"] == "task")
    code, checks = verify(out, "--task", str(task))
    assert (code, differing(checks)) == (0, {})
    assert ("replay" in names(checks, "same")) == with_pages
    assert ("pages" in names(checks, "note")) == (not with_pages)


def test_a_bundle_is_verified_by_another_user_elsewhere(
    finished: Path, task: Path, tmp_path: Path
) -> None:
    """With a home of its own and from another folder; nothing of the run's place is needed."""
    out = tmp_path / "b.tar.gz"
    bundle(finished, out)
    away = finished.with_name("away")
    finished.rename(away)
    try:
        home = tmp_path / "home"
        home.mkdir()
        code, checks = verify(
            out, "--task", str(task), HOME=str(home), USER="somebody", TMPDIR=str(home)
        )
    finally:
        away.rename(finished)
    assert (code, differing(checks)) == (0, {})
    assert list(home.glob("evoduet-*")) == []


def changed_line(folder: Path) -> None:
    lines = (folder / FILE_NAME).read_bytes().splitlines(keepends=True)
    number = next(i for i, line in enumerate(lines) if b'"event":"evaluation"' in line)
    lines[number] = lines[number].replace(b'"search_score":', b'"search_score":1')
    (folder / FILE_NAME).write_bytes(b"".join(lines))


def changed_blob(folder: Path) -> None:
    name = next(iter(references(read_journal(folder)).answers))
    path = folder / "blobs" / name[:2] / name
    path.write_bytes(path.read_bytes() + b" ")


def lost_blob(folder: Path) -> None:
    name = next(iter(references(read_journal(folder)).prompts))
    (folder / "blobs" / name[:2] / name).unlink()


def changed_summary(folder: Path) -> None:
    path = folder / "summary.json"
    summary = json.loads(path.read_text())
    summary["best"]["search_score"] += 1
    path.write_text(json.dumps(summary))


def changed_trace(folder: Path) -> None:
    path = folder / "trace.jsonl"
    path.write_text(path.read_text().replace('"t": 1', '"t": 11', 1))


@pytest.mark.parametrize(
    ("change", "name", "words"),
    [
        (changed_line, "journal", "is damaged"),
        (changed_blob, "blob", "is not what its name says"),
        (lost_blob, "blob", "is not there"),
        (changed_summary, "summary", "not what the journal says"),
        (changed_trace, "trace", "not what the journal says"),
    ],
)
def test_changes_of_a_run_are_told_apart(copy: Path, change: Change, name: str, words: str) -> None:
    change(copy)
    code, checks = verify(copy)
    assert code == 1
    assert words in differing(checks)[name]
    assert differing(checks).keys() <= {name, "replay"}


def rewritten(folder: Path, old: bytes, new: bytes) -> None:
    """Change a journal and make its chain whole again, as somebody would who means it."""
    previous, lines = "0" * 64, list[bytes]()
    for line in (folder / FILE_NAME).read_bytes().splitlines():
        record = json.loads(line.replace(old, new) if old else line)
        record |= {"prev": previous, "seq": len(lines)}
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        previous = hashlib.sha256(text).hexdigest()
        lines.append(text)
    (folder / FILE_NAME).write_bytes(b"".join(lines))


def test_a_forged_score_with_a_whole_chain_does_not_stand_evaluation(copy: Path) -> None:
    score = best_program(copy)[1]["best"]["search_score"]
    rewritten(copy, repr(score).encode(), b"2.75")
    for name in ("summary.json", "trace.jsonl"):
        (copy / name).unlink()
    code, checks = verify(copy)
    assert code == 1
    assert f"search is {score!r}, recorded is 2.75" in differing(checks)["search"]


def test_a_journal_of_another_form_is_one_line(copy: Path) -> None:
    for old, new in ((b'"config":', b'"konfig":'), (b'"answer":', b'"reply":')):
        rewritten(copy, old, new)
        code, checks = verify(copy)
        assert (code, list(differing(checks))) == (1, ["journal"])


def test_a_changed_evaluator_is_told(finished: Path, task: Path) -> None:
    evaluator = task / "evaluator.py"
    before = evaluator.read_text()
    try:
        evaluator.write_text(before + "\n# another one\n")
        code, checks = verify(finished)
    finally:
        evaluator.write_text(before)
    assert code == 1
    assert differing(checks).keys() == {"evaluator"}
    assert "not the one that gave these scores" in differing(checks)["evaluator"]


def test_a_changed_artifact_is_noticed(copy: Path) -> None:
    result = best_result(copy)
    path = copy / "artifacts" / f"{result['artifact_sha256']}.json"
    path.write_text("[0.5, 0.5]\n")
    code, checks = verify(copy)
    assert code == 1
    assert "has changed" in differing(checks)["artifact"]


def test_an_unfinished_run_is_identical_so_far(copy: Path) -> None:
    lines = (copy / FILE_NAME).read_bytes().splitlines(keepends=True)
    (copy / FILE_NAME).write_bytes(b"".join(lines[: len(lines) // 2]) + b'{"torn')
    (copy / "summary.json").unlink()
    (copy / "trace.jsonl").unlink()
    code, checks = verify(copy)
    assert (code, differing(checks)) == (0, {})
    assert {"journal end", "replay"} <= names(checks, "note")


def test_a_bundle_that_declares_a_program_as_left_out_is_caught(
    finished: Path, task: Path, tmp_path: Path, harness: Harness
) -> None:
    from method.archive import write_archive
    from method.bundle import open_bundle
    from method.verification import verify_bundle

    out, folder = tmp_path / "b.tar.gz", tmp_path / "folder"
    bundle(finished, out, with_pages=True)
    folder.mkdir()
    manifest = dict(open_bundle(out, folder).manifest)
    programs = references(read_journal(folder)).programs
    best = hashlib.sha256(best_program(folder)[0].encode()).hexdigest()
    for number, name in enumerate((next(iter(programs)), best)):
        (folder / "blobs" / name[:2] / name).unlink()
        manifest.pop("members", None)
        manifest["redactions"] = {"pages": [{"sha256": name}], "texts": []}
        members: dict[str, bytes | Path] = {
            path.relative_to(folder).as_posix(): path
            for path in folder.rglob("*")
            if path.is_file()
        }
        write_archive(out, members, manifest)
        again = tmp_path / f"again{number}"
        again.mkdir()
        found = verify_bundle(open_bundle(out, again), out, harness, task=find_task(str(task)))
        assert found.exit_code == 1
        told = {check.name: check.message for check in found.checks if check.outcome == "differs"}
        assert "is not there" in told["blob"]
        assert number == 0 or "missing" in told["program"]


def test_usage(tmp_path: Path, finished: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    torn = tmp_path / "torn.tar.gz"
    torn.write_bytes(b"\x1f\x8b")
    for arguments in (
        [empty], [torn], [finished, "--program", __file__], [tmp_path / "no.tar.zst"],
        [finished / FILE_NAME, "--report"],
    ):  # fmt: skip
        answer = subprocess.run(
            [sys.executable, "-m", "benchmark.cli", "verify", *map(str, arguments)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert answer.returncode == 2, answer.stdout
        assert answer.stderr.count("\n") == 1
        assert answer.stderr.startswith("evoduet: ")
