"""Ways to make a file: converters, rebuilding, several processes at once, sudden ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_mirror import (
    MIRRORED,
    WEIGHT,
    LocalMirror,
    declared,
    fetched,
    local_mirror,
    sha256,
    visible_files,
    write_data_task,
)
from shared_data import REPOSITORY

from benchmark.data import DataStore
from benchmark.evaluator import Unavailable
from benchmark.task import Task


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalMirror]:
    """A mirror on loopback."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with local_mirror() as mirror:
        yield mirror


@pytest.fixture
def converters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of converters; the folder notes how often each was called."""
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "test_converters.py").write_text(
        """
import os, signal
def right(parts, target):
    target.write_bytes(b"".join(part.read_bytes() for part in parts))
def wrong(parts, target):
    target.write_bytes(b"99")
def refusing(parts, target):
    target.write_bytes(b"half")
    raise ValueError("not what it should be")
def killed(parts, target):
    target.write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
def rebuild(target):
    target.write_bytes(b"2.5\\n")
def rebuild_wrong(target):
    target.write_bytes(b"99")
"""
    )
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    monkeypatch.delitem(sys.modules, "test_converters", raising=False)
    return tmp_path / "modules"


def in_parts(server: LocalMirror, converter: str, *, pinned: bool = True) -> str:
    """The field ``source`` of a file that a converter joins of two downloads."""
    halves = WEIGHT[:2], WEIGHT[2:]
    server.files |= {"first": halves[0], "second": halves[1]}
    parts = ", ".join(
        f'{{ url = "{server.url}/{name}"' + (f', sha256 = "{sha256(half)}"' * pinned) + " }"
        for name, half in zip(("first", "second"), halves, strict=True)
    )
    return f'{{ parts = [{parts}], converter = "test_converters:{converter}" }}'


def test_a_converter_joins_the_parts(server: LocalMirror, converters: Path, tmp_path: Path) -> None:
    task = write_data_task(tmp_path, declared(source=in_parts(server, "right")))
    store = DataStore(tmp_path / "cache")
    assert fetched(store, task) == ("cache", "")
    assert store.path(task, "weight.json").read_bytes() == WEIGHT
    assert visible_files(tmp_path / "cache") == [MIRRORED]


@pytest.mark.parametrize(
    ("converter", "problem"),
    [
        ("wrong", "its public source: the result has a wrong checksum"),
        ("refusing", "test_converters:refusing: ValueError: not what it should be"),
        ("absent", "test_converters:absent: AttributeError"),
    ],
)
def test_what_a_converter_spoils_is_not_kept(
    converter: str, problem: str, server: LocalMirror, converters: Path, tmp_path: Path
) -> None:
    task = write_data_task(tmp_path, declared(source=in_parts(server, converter)))
    place, said = fetched(DataStore(tmp_path / "cache"), task)
    assert place == "missing"
    assert problem in said
    assert not (tmp_path / "cache" / MIRRORED).exists()
    assert not list((tmp_path / "cache").rglob("*.new"))


@pytest.mark.parametrize("pinned", [True, False])
def test_refused_downloads_are_fetched_again_unless_their_checksum_is_known(
    pinned: bool, server: LocalMirror, converters: Path, tmp_path: Path
) -> None:
    store = DataStore(tmp_path / "cache")
    refused = write_data_task(
        tmp_path / "a", declared(source=in_parts(server, "refusing", pinned=pinned))
    )
    assert fetched(store, refused)[0] == "missing"
    server.asked.clear()
    task = write_data_task(
        tmp_path / "b", declared(source=in_parts(server, "right", pinned=pinned))
    )
    assert fetched(store, task) == ("cache", "")
    assert [name for name, _ in server.asked] == ([] if pinned else ["first", "second"])


def test_what_only_a_converter_knows_must_not_change(
    server: LocalMirror, converters: Path, tmp_path: Path
) -> None:
    task = write_data_task(tmp_path, declared(mirror="", source=in_parts(server, "right")))
    store = DataStore(tmp_path / "cache")
    assert fetched(store, task) == ("cache", "")
    path = store.path(task, "weight.json")
    assert path == tmp_path / "cache" / "toys" / "vector" / "weight.json"
    path.write_bytes(b"99\n")
    with pytest.raises(Unavailable, match="has changed since it was fetched"):
        store.path(task, "weight.json")
    path.write_bytes(WEIGHT)
    assert store.path(task, "weight.json") == path


def test_files_are_rebuilt_on_demand(converters: Path, tmp_path: Path) -> None:
    task = write_data_task(tmp_path, declared(rebuild='"test_converters:rebuild"'))
    store = DataStore(tmp_path / "cache")
    data = store.status(task)
    assert ([state.place for state in data.files], data.variant) == (["rebuild"], "official")
    assert not (tmp_path / "cache" / MIRRORED).exists()
    path = store.path(task, "weight.json")
    assert path.read_bytes() == WEIGHT
    path.write_bytes(b"99\n")
    assert store.path(task, "weight.json").read_bytes() == WEIGHT


def test_a_wrong_rebuild_is_refused(converters: Path, tmp_path: Path) -> None:
    task = write_data_task(tmp_path, declared(rebuild='"test_converters:rebuild_wrong"'))
    with pytest.raises(Unavailable, match="rebuilding it: the result has a wrong checksum"):
        DataStore(tmp_path / "cache").path(task, "weight.json")
    assert visible_files(tmp_path / "cache") == []


# --- several at once, and sudden ends -------------------------------------------------------------


def other_process(task: Task, *, mirror: str, cache: Path, modules: Path) -> subprocess.Popen[str]:
    """Another process that fetches the files of a task."""
    code = (
        "from pathlib import Path; import sys; from benchmark.task import read_task; "
        "from benchmark.data import DataStore; task = read_task(Path(sys.argv[1])); "
        "print(DataStore(sys.argv[2], sys.argv[3]).fetch(task, task.declared.data).files[0].place)"
    )
    path = os.pathsep.join([str(REPOSITORY), str(modules)])
    return subprocess.Popen(
        [sys.executable, "-c", code, str(task.folder), str(cache), mirror],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


def test_processes_that_fetch_at_once_download_once(server: LocalMirror, tmp_path: Path) -> None:
    content = os.urandom(1 << 20)
    server.files[MIRRORED] = content
    server.gate = threading.Event()
    task, cache = write_data_task(tmp_path, declared(content)), tmp_path / "cache"
    processes = [
        other_process(task, mirror=server.url, cache=cache, modules=tmp_path) for _ in range(3)
    ]
    deadline = time.monotonic() + 60
    while not server.asked and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not (cache / MIRRORED).exists(), "nothing may be there before it is whole"
    server.gate.set()
    for process in processes:
        said, _ = process.communicate(timeout=120)
        assert (process.returncode, said) == (0, "cache\n")
    assert server.asked == [(MIRRORED, None)]
    assert (cache / MIRRORED).read_bytes() == content
    assert visible_files(cache) == [MIRRORED]


def test_threads_that_ask_at_once_rebuild_once(converters: Path, tmp_path: Path) -> None:
    task = write_data_task(tmp_path, declared(rebuild='"test_converters:rebuild"'))
    found: list[bytes] = []

    def ask() -> None:
        found.append(DataStore(tmp_path / "cache").path(task, "weight.json").read_bytes())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [WEIGHT] * 8


def test_a_killed_process_leaves_nothing_that_counts(
    server: LocalMirror, converters: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    killed = write_data_task(tmp_path / "a", declared(source=in_parts(server, "killed")))
    process = other_process(killed, mirror="", cache=cache, modules=converters)
    process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    assert not (cache / MIRRORED).exists()
    task = write_data_task(tmp_path / "b", declared(source=in_parts(server, "right")))
    store = DataStore(cache)
    assert store.status(task).variant is None
    assert fetched(store, task) == ("cache", "")
    assert visible_files(cache) == [MIRRORED]
