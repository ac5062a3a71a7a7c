"""The data store: places in their order, fetching, evaluations with right and wrong files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_mirror import (
    MIRRORED,
    WEIGHT,
    LocalMirror,
    declared,
    fetched,
    folder_with,
    local_mirror,
    sha256,
    source,
    visible_files,
    write_data_task,
)
from shared_data import REPOSITORY, require_shared

from benchmark import download, evaluate
from benchmark.catalogue import catalogue, find_task
from benchmark.data import DataStore, data_store
from benchmark.evaluator import Unavailable

EMBEDDED = '["official", "embedded"]'


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty cache, no mirror, no waiting between attempts."""
    monkeypatch.setenv("EVODUET_DATA", str(tmp_path / "cache"))
    monkeypatch.delenv("EVODUET_DATA_MIRROR", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(download.time, "sleep", lambda seconds: None)


@pytest.fixture
def server() -> Iterator[LocalMirror]:
    """A mirror on loopback that has the toy task's file."""
    with local_mirror() as mirror:
        mirror.files[MIRRORED] = WEIGHT
        yield mirror


# --- places ---------------------------------------------------------------------------------------


def test_a_mirror_folder_is_read_in_place(tmp_path: Path) -> None:
    task, mirror = write_data_task(tmp_path), folder_with(tmp_path)
    store = DataStore(tmp_path / "cache", mirror)
    assert store.path(task, "weight.json") == mirror / MIRRORED
    assert store.digests(task, "official") == {"weight.json": sha256(WEIGHT)}
    assert visible_files(tmp_path / "cache") == []
    assert visible_files(mirror) == [MIRRORED]


def test_fetching_copies_from_a_mirror_folder(tmp_path: Path) -> None:
    task, mirror = write_data_task(tmp_path), folder_with(tmp_path)
    assert fetched(DataStore(tmp_path / "cache", mirror), task) == ("cache", "")
    alone = DataStore(tmp_path / "cache")
    assert alone.path(task, "weight.json") == tmp_path / "cache" / MIRRORED
    assert visible_files(tmp_path / "cache") == [MIRRORED]


def test_the_cache_of_one_machine_is_a_mirror_for_another(tmp_path: Path) -> None:
    task = write_data_task(tmp_path)
    fetched(DataStore(tmp_path / "cache", folder_with(tmp_path)), task)
    other = DataStore(tmp_path / "other", tmp_path / "cache")
    assert other.path(task, "weight.json") == tmp_path / "cache" / MIRRORED


def test_a_wrong_copy_in_the_mirror_gives_way_to_the_cache(tmp_path: Path) -> None:
    task, mirror = write_data_task(tmp_path), folder_with(tmp_path)
    store = DataStore(tmp_path / "cache", mirror)
    fetched(store, task)
    folder_with(tmp_path, b"99\n")
    assert store.path(task, "weight.json") == tmp_path / "cache" / MIRRORED
    (state,) = store.status(task).files
    assert (state.place, state.available) == ("cache", True)
    assert "the copy in the mirror has a wrong checksum" in state.problem


def test_the_environment_names_the_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_store().cache == tmp_path / "cache"
    assert data_store().mirror is None
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("EVODUET_DATA", "~/mine")
    assert data_store().cache == tmp_path / "mine"
    monkeypatch.setenv("EVODUET_DATA", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert data_store().cache == tmp_path / "xdg" / "evoduet" / "data"
    for named, mirror in (
        ("~/m", tmp_path / "m"),
        ("m", Path.cwd() / "m"),
        (f"file://{tmp_path}/m", tmp_path / "m"),
        ("https://host/m/", "https://host/m"),
    ):
        monkeypatch.setenv("EVODUET_DATA_MIRROR", named)
        assert data_store().mirror == mirror


def test_names_that_are_not_declared_are_a_programming_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match=r"declares no data file other\.json"):
        DataStore(tmp_path / "cache").path(write_data_task(tmp_path), "other.json")


def test_the_official_mirror_has_every_file_of_the_simple_tasks() -> None:
    store = DataStore("", require_shared() / "data")
    for name in ("perovskites", "feynman_i_27_6", "baumgartner"):
        data = store.status(find_task(name), again=True)
        assert [(state.place, state.problem) for state in data.files] == [("mirror", "")] * len(
            data.files
        )
        assert [state.file.size for state in data.files] == [
            state.path.stat().st_size for state in data.files if state.path
        ]


def test_declarations_of_all_tasks_can_be_had() -> None:
    for task in catalogue().values():
        for file in task.declared.data:
            assert file.mirror or file.source or file.rebuild
            if file.source:
                assert all(part.url.startswith("https://") for part in file.source.downloads)


# --- fetching -------------------------------------------------------------------------------------


def test_a_mirror_address_is_asked_once(server: LocalMirror, tmp_path: Path) -> None:
    task, store = write_data_task(tmp_path), DataStore(tmp_path / "cache", server.url + "/")
    with pytest.raises(Unavailable, match="evoduet data fetch toys/vector"):
        store.path(task, "weight.json")
    assert server.asked == [], "scoring must not touch the network"
    for _ in range(2):
        assert fetched(store, task) == ("cache", "")
    assert server.asked == [(MIRRORED, None)]
    assert store.path(task, "weight.json").read_bytes() == WEIGHT
    assert visible_files(tmp_path / "cache") == [MIRRORED]


def test_the_mirror_comes_before_the_source(server: LocalMirror, tmp_path: Path) -> None:
    server.files["public/w"] = WEIGHT
    task = write_data_task(tmp_path, declared(source=source(f"{server.url}/public/w")))
    assert fetched(DataStore(tmp_path / "a", server.url), task) == ("cache", "")
    assert server.asked == [(MIRRORED, None)]
    assert fetched(DataStore(tmp_path / "b"), task) == ("cache", "")
    del server.files[MIRRORED]
    assert fetched(DataStore(tmp_path / "c", server.url), task) == ("cache", "")
    assert [name for name, _ in server.asked[1:]] == ["public/w", MIRRORED, "public/w"]


def test_an_interrupted_fetch_goes_on(server: LocalMirror, tmp_path: Path) -> None:
    content = os.urandom(20 * download.CHUNK)
    server.files[MIRRORED] = content
    task, store = write_data_task(tmp_path, declared(content)), DataStore(tmp_path, server.url)
    server.cuts = [7 * download.CHUNK, 0, 0]
    place, problem = fetched(store, task)
    assert place == "missing"
    assert problem.startswith(f"the mirror: {server.url}/{MIRRORED}: ")
    server.cuts = [download.CHUNK]
    assert fetched(store, task) == ("cache", "")
    assert [wanted for _, wanted in server.asked[3:]] == [
        f"bytes={7 * download.CHUNK}-",
        f"bytes={8 * download.CHUNK}-",
    ]
    assert store.path(task, "weight.json").read_bytes() == content


def test_wrong_content_is_never_kept(server: LocalMirror, tmp_path: Path) -> None:
    server.files[MIRRORED] = server.files["public/w"] = b"99\n"
    task = write_data_task(tmp_path, declared(source=source(f"{server.url}/public/w")))
    store = DataStore(tmp_path / "cache", server.url)
    place, problem = fetched(store, task)
    assert place == "missing"
    assert problem.count("wrong sha256") == 2
    assert visible_files(tmp_path / "cache") == []
    with pytest.raises(Unavailable):
        store.path(task, "weight.json")


def test_a_wrong_cached_file_is_replaced_by_a_right_one(
    server: LocalMirror, tmp_path: Path
) -> None:
    task, store = write_data_task(tmp_path), DataStore(tmp_path / "cache", server.url)
    fetched(store, task)
    path = tmp_path / "cache" / MIRRORED
    path.write_bytes(b"99\n")
    server.status[MIRRORED] = 503
    place, problem = fetched(store, task)
    assert place == "wrong"
    assert problem.startswith("the copy in the cache has a wrong checksum")
    with pytest.raises(Unavailable, match="the copy in the cache has a wrong checksum"):
        store.path(task, "weight.json")
    server.status.clear()
    assert fetched(store, task) == ("cache", "")
    assert path.read_bytes() == WEIGHT


def test_a_file_without_any_way_says_so(tmp_path: Path) -> None:
    task, store = write_data_task(tmp_path), DataStore(tmp_path / "cache")
    expected = "it has no public source, and EVODUET_DATA_MIRROR is not set"
    assert fetched(store, task) == ("missing", expected)
    with pytest.raises(Unavailable, match="set EVODUET_DATA_MIRROR to a folder or URL"):
        store.path(task, "weight.json")


def test_a_mirror_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    store = DataStore(tmp_path / "cache", tmp_path / "nowhere")
    with pytest.raises(Unavailable, match=r"EVODUET_DATA_MIRROR names no folder: .*nowhere"):
        store.path(write_data_task(tmp_path), "weight.json")


# --- evaluations ----------------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text("def run_code():\n    return [1.0, 0.5]\n")
    return path


def test_scores_use_the_verified_file_and_record_it(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = write_data_task(tmp_path)
    monkeypatch.setenv("EVODUET_DATA_MIRROR", str(folder_with(tmp_path)))
    result = evaluate(task, program)
    assert (result.status, result.search) == ("valid", 3.75)
    assert result.provenance["data"] == {"weight.json": sha256(WEIGHT)}
    folder_with(tmp_path, b"99.0\n")
    result = evaluate(task, program)
    assert (result.status, result.search, result.objective) == ("unavailable", None, None)
    assert "the copy in the mirror has a wrong checksum" in result.reason
    assert result.provenance["data"] == {}


def test_without_data_the_embedded_variant_runs_and_says_so(program: Path, tmp_path: Path) -> None:
    task = write_data_task(tmp_path, variants=EMBEDDED)
    result = evaluate(task, program)
    assert (result.status, result.search, result.ndg) == ("valid", 1.5, None)
    assert result.provenance["variant"] == "embedded"
    result = evaluate(task, program, variant="official")
    assert result.status == "unavailable"
    assert "evoduet data fetch toys/vector" in result.reason


def test_data_that_come_later_are_used(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = write_data_task(tmp_path, variants=EMBEDDED)
    assert evaluate(task, program).provenance["variant"] == "embedded"
    monkeypatch.setenv("EVODUET_DATA_MIRROR", str(folder_with(tmp_path)))
    result = evaluate(task, program)
    assert (result.provenance["variant"], result.search) == ("official", 3.75)


def test_a_task_without_data_pays_nothing_for_them(tmp_path: Path) -> None:
    code = (
        "import sys; from benchmark import evaluate; from benchmark.catalogue import find_task; "
        "result = evaluate('labs_27', find_task('labs_27').initial_program); "
        "libraries = ('pooch', 'requests', 'urllib3', 'filelock', 'platformdirs'); "
        "print([result.status, *(name for name in libraries if name in sys.modules)])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert json.loads(answer.stdout.replace("'", '"')) == ["valid"]
    assert not (tmp_path / "cache").exists()
