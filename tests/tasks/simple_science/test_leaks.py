"""Candidates that look for labels, targets, weights and references find none of them."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared_data import REPOSITORY

from benchmark import evaluate
from benchmark.catalogue import find_task
from benchmark.data import data_store

TASKS = ("perovskites", "feynman_i_27_6", "baumgartner", "guacamol", "chwirut2")

# What a spy looks for is written backwards in its text, and compared byte by byte behind its first
# part, so that it does not find itself. (A pattern must not end with zeros: those follow anything.)
SPY = """
import glob, hashlib, importlib, json, os, sys
found = {}

def note(kind, what):
    found.setdefault(kind, []).append(str(what)[-200:])

def attempt(action, *arguments):
    try:
        return action(*arguments)
    except (OSError, ValueError, OverflowError):
        return None

def content(path, size=1 << 22):
    with open(path, "rb", 0) as file:
        return file.read(size)

def forwards(texts):
    return [text[::-1] for text in texts]

def by_path():
    for path in forwards(PATHS):
        if os.path.exists(path) or attempt(os.listdir, path) or attempt(content, path):
            note("path", path)

def by_import():
    for name in forwards(MODULES):
        try:
            importlib.import_module(name)
            note("import", name)
        except ImportError:
            pass
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("tasks", "benchmark"):
            note("module", name)

def by_environment():
    for name, value in os.environ.items():
        for word in forwards(WORDS):
            if word.lower() in f"{name}={value}".lower():
                note("environment", name)

def by_process_table():
    words = [word.encode() for word in forwards(WORDS)]
    for folder in glob.glob("/proc/[0-9]*") + ["/proc/self", "/proc/thread-self"]:
        texts = [attempt(content, f"{folder}/{name}")
                 for name in ("environ", "cmdline", "maps", "mountinfo", "mounts", "stat")]
        links = [f"{folder}/{name}" for name in ("cwd", "root", "exe")]
        links += glob.glob(f"{folder}/fd/*")
        texts += [os.fsencode(attempt(os.readlink, link) or "") for link in links]
        texts += [attempt(content, link, 1 << 16) for link in glob.glob(f"{folder}/fd/*")
                  if os.path.isfile(link)]
        for text in filter(None, texts):
            for word in words:
                if word in text:
                    note("proc", (folder, word))
        for name in attempt(os.listdir, f"{folder}/cwd") or []:
            if name in ("data.csv", "weights.npz", "val.txt", "task.toml"):
                note("proc", name)

def in_memory(backwards):
    first, rest = backwards[:3:-1], list(backwards[3::-1])
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            span, mode = line.split()[:2]
            start, end = (int(part, 16) for part in span.split("-"))
            if "rw" not in mode or end - start > 1 << 28:
                continue
            text = attempt(lambda: (memory.seek(start), memory.read(end - start))[1]) or b""
            place = text.find(first)
            while place >= 0:
                if list(text[place + len(first):place + len(first) + len(rest)]) == rest:
                    return True
                place = text.find(first, place + 1)
    return False

def by_content(start="/"):
    seen = 0
    for folder, folders, files in os.walk(start):
        folders[:] = [name for name in folders if (folder, name) != ("/", "proc")]
        for name in files:
            path = os.path.join(folder, name)
            size = attempt(os.path.getsize, path)
            seen += size is not None
            if str(size) in SIZES and not os.path.islink(path):
                text = attempt(content, path, 1 << 28)
                if text and hashlib.sha256(text).hexdigest() in SIZES[str(size)]:
                    note("content", path)
    return seen

def solve(payload):
    for search in (by_path, by_import, by_environment, by_process_table):
        search()
    for number, secret in enumerate(SECRETS):
        if in_memory(secret):
            note("memory", number)
    seen = by_content() if SIZES else 0
    shown = [in_memory(text) for text in SHOWN]
    print(json.dumps({"found": found, "seen": seen, "shown": shown}))
"""


def backwards(texts: list[Any]) -> list[Any]:
    return [text[::-1] for text in texts]


def spy_on(folder: Path, task: str, **constants: Any) -> dict[str, Any]:
    """Run the spy as a candidate of ``task``; what it printed."""
    lines = [f"{name} = {value!r}" for name, value in constants.items()]
    program = folder / "spy.py"
    program.write_text("\n".join([*lines, SPY]))
    result = evaluate(task, program, wall_s=240)
    assert result.stdout_tail, (result.status, result.reason, result.stderr_tail)
    printed: dict[str, Any] = json.loads(result.stdout_tail)
    return printed


def files_below(*folders: Path) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def places(official_data: Path, fresh_cache: Path) -> dict[str, Any]:
    """Constants of the spy: where things are on this machine, and words that would tell."""
    tasks = REPOSITORY / "tasks"
    folders = [
        tasks,
        REPOSITORY / "benchmark",
        REPOSITORY / "tests",
        official_data,
        official_data.parent / "parity",
        fresh_cache,
        *(find_task(name).folder for name in TASKS),
    ]
    modules = ["tasks", "benchmark", "benchmark.data", "oracle_docs", "method", "analysis"]
    for name in TASKS:
        modules.append(f"tasks.simple_science.{name}.evaluator")
    words = ["evoduet_", str(official_data), str(fresh_cache), "evaluator.py"]
    return {
        "PATHS": backwards([str(folder) for folder in folders]),
        "MODULES": backwards(modules),
        "WORDS": backwards(words),
    }


def double(value: float) -> bytes:
    return struct.pack("<d", value)


def secrets_of(task: str) -> tuple[list[bytes], list[bytes]]:
    """Byte patterns that a candidate must not have in its memory, and some that it must have."""
    store, found = data_store(), find_task(task)
    if task == "perovskites":
        rows = store.path(found, "data.csv").read_text().splitlines()
        gaps = [float(row.split(",")[3]) for row in rows]
        hidden = [double(gap) for gap in gaps[::7]] + [row.encode() for row in rows[::7]]
        return hidden, [b"tetramethylammonium"]
    if task == "feynman_i_27_6":
        state = json.loads((found.folder / "data" / "generator_state.json").read_text())["key"]
        hidden = [struct.pack("<4I", *state[:4]), struct.pack("<4Q", *state[:4])[:-4]]
        for part in ("val", "test"):
            text = store.path(found, f"{part}.txt").read_text()
            numbers = [float(word) for word in text.split()]
            hidden += [double(number) for number in numbers[:16]] + [text[:60].encode()]
        train = store.path(found, "train.txt").read_text().split("\n", 1)[0].split()
        return hidden, [double(float(word)) for word in train]
    with np.load(store.path(found, "weights.npz")) as archive:
        hidden = [archive[name].ravel()[:4].tobytes() for name in ("w1", "b1", "w2", "b2")]
    return hidden, [b"tBuBrettPhos"]


@pytest.mark.parametrize("task", ["perovskites", "feynman_i_27_6", "baumgartner"])
def test_paths_imports_environment_processes_and_memory_hold_no_secret(
    task: str, places: dict[str, Any], tmp_path: Path
) -> None:
    hidden, shown = secrets_of(task)
    hidden = [pattern for pattern in hidden if len(pattern) >= 8]
    printed = spy_on(
        tmp_path, task, **places, SECRETS=backwards(hidden), SHOWN=backwards(shown), SIZES={}
    )
    assert printed["shown"] == [True] * len(shown), "the spy does not see its own memory"
    assert printed["found"] == {}


@pytest.mark.slow
def test_no_file_anywhere_has_the_content_of_a_secret(
    places: dict[str, Any], official_data: Path, tmp_path: Path
) -> None:
    """By content, whatever its name: data, references, parity cases, evaluators."""
    mirrored = [official_data / name for name in TASKS]
    parity = [official_data.parent / "parity" / name for name in TASKS]
    own = [find_task(name).folder for name in TASKS]
    secret = list(files_below(*mirrored, *parity, *own))
    assert len(secret) > 30
    sizes: dict[str, list[str]] = {}
    for path in secret:
        content = path.read_bytes()
        if content:
            sizes.setdefault(str(len(content)), []).append(hashlib.sha256(content).hexdigest())
    printed = spy_on(tmp_path, "guacamol", **places, SECRETS=[], SHOWN=[], SIZES=sizes)
    assert printed["seen"] > 1000, "the spy sees no files at all"
    assert printed["found"] == {}
