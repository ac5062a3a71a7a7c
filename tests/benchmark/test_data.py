"""The data store: places in their order, fetching, converters, several at once, evaluations."""

from __future__ import annotations

import json
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
    local_mirror,
    sha256,
    source,
    write_data_task,
)
from shared_data import REPOSITORY, require_shared

from benchmark import download, evaluate
from benchmark.catalogue import catalogue, find_task
from benchmark.data import DataStore, data_store, wanted_files
from benchmark.evaluator import Unavailable
from benchmark.task import Task

CONVERTER = '{{ url = "{url}", converter = "test_converters:{name}" }}'
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


def folder_with(parent: Path, content: bytes = WEIGHT) -> Path:
    """A mirror folder that has the toy task's file."""
    file = parent / "mirror" / MIRRORED
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return parent / "mirror"


def fetched(store: DataStore, task: Task) -> tuple[str, str]:
    """Place and problem of the only file after fetching it."""
    (state,) = store.fetch(task, wanted_files(task, optional=True)).files
    return state.place, state.problem


def visible_files(folder: Path) -> list[str]:
    """Names below a folder, without marks and locks."""
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(n for n in names if not n.startswith(".checked") and not n.endswith(".lock"))


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
    with pytest.raises(KeyError, match="declares no data file other.json"):
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


# --- converters and rebuilding --------------------------------------------------------------------


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
