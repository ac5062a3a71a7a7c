"""Bundles: whole, always the same, without third-party text unless asked for."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest
from fake_task import clients, config

from method.archive import ArchiveProblem, write_archive
from method.bundle import bundle, open_bundle
from method.journal import FILE_NAME, JournalError, read_journal
from method.protocols import SearchResponse, SearchResult
from method.references import references
from method.runs import Clients, best_program, run

SECRET = "The heights of the optimal step function are listed in an appendix of our own notes. "


class Library:
    """A search whose pages belong to somebody."""

    name = "library"

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        result = SearchResult(
            f"https://example.org/{query[-1]}", "", "A page", SECRET * 2, SECRET * 9, 1.0, 1
        )
        return SearchResponse((result,), credits=1.0, cost_usd=0.005)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    made = clients()
    run(config(iterations=8), folder, clients=Clients(made.model, Library(), made.evaluator))
    assert references(read_journal(folder)).pages
    return folder


def content_of(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar}  # type: ignore[union-attr]


def test_pages_are_left_out_and_told_of(finished: Path, tmp_path: Path) -> None:
    done = bundle(finished, tmp_path / "b.tar.gz")
    content = content_of(done.path)
    assert not any(SECRET[:60].encode() in text for text in content.values())
    named = references(read_journal(finished))
    manifest = json.loads(content["manifest.json"])
    assert {row["sha256"] for row in manifest["redactions"]["pages"]} == named.pages.keys()
    assert done.left_out == done.pages == len(named.pages)
    assert done.redacted_texts > 0
    assert content[FILE_NAME] == (finished / FILE_NAME).read_bytes()
    for row in manifest["redactions"]["texts"]:
        name = row["sha256"]
        assert b"page text left out" in content[f"redacted/{name[:2]}/{name}"]
        assert f"blobs/{name[:2]}/{name}" not in content
    for name in named.programs:
        assert f"blobs/{name[:2]}/{name}" in content
    code, _ = best_program(finished)
    assert content["programs/best.py"].decode() == code
    assert b"numpy==" in content["requirements.lock"]
    environment = json.loads(content["environment.json"])
    assert {"python", "platform", "machine", "packages"} <= environment.keys()


def test_every_text_of_a_run_is_known(finished: Path) -> None:
    """What nothing refers to (a crash left it) is not passed on, so nothing may be overlooked."""
    stored = {path.name for path in (finished / "blobs").glob("??/*")}
    assert stored == set(references(read_journal(finished)).all)


def test_with_pages_everything_is_in(finished: Path, tmp_path: Path) -> None:
    done = bundle(finished, tmp_path / "b.tar.gz", with_pages=True)
    content = content_of(done.path)
    named = references(read_journal(finished)).all
    assert {f"blobs/{name[:2]}/{name}" for name in named} <= content.keys()
    assert (done.left_out, done.redacted_texts) == (0, 0)
    assert any(SECRET.encode() in text for text in content.values())


@pytest.mark.parametrize("suffix", [".tar.gz", ".tar.zst"])
def test_the_same_run_gives_the_same_bytes_elsewhere(
    finished: Path, tmp_path: Path, suffix: str
) -> None:
    copy = tmp_path / "deep" / "down" / finished.name
    shutil.copytree(finished, copy)
    for path in copy.rglob("*"):
        os.utime(path, (1, 1))
        path.chmod(0o700)
    one = bundle(finished, tmp_path / f"one{suffix}")
    other = bundle(copy, tmp_path / f"other{suffix}")
    assert one.sha256 == other.sha256
    if suffix == ".tar.gz":
        for text in content_of(other.path).values():
            assert str(tmp_path).encode() not in text


def test_a_run_that_is_still_written_is_bundled_up_to_its_last_whole_line(
    finished: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    lines = (copy / FILE_NAME).read_bytes().splitlines(keepends=True)
    (copy / FILE_NAME).write_bytes(b"".join(lines[:-1]) + lines[-1][:20])
    done = bundle(copy, tmp_path / "b.tar.gz")
    content = content_of(done.path)
    assert content[FILE_NAME] == b"".join(lines[:-1])
    assert json.loads(content["manifest.json"])["status"] == "running"


def test_a_run_that_lacks_a_text_is_not_bundled(finished: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(finished, copy)
    name = next(iter(references(read_journal(copy)).answers))
    (copy / "blobs" / name[:2] / name).unlink()
    with pytest.raises(JournalError, match="missing"):
        bundle(copy, tmp_path / "b.tar.gz")
    assert not (tmp_path / "b.tar.gz").exists()


def test_other_archives_are_no_bundles(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    path = tmp_path / "a.tar.gz"
    for about, words in (
        ({}, "no bundle of a run"),
        ({"format": "evoduet.bundle/1", "redactions": []}, "no bundle of a run"),
        ({"format": "new", "redactions": {"pages": [], "texts": []}}, "format 'new'"),
    ):
        write_archive(path, {}, about)
        with pytest.raises(ArchiveProblem, match=words):
            open_bundle(path, out)
