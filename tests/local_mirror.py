"""A mirror on loopback that can misbehave, and toy tasks whose evaluator reads a data file."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from toy_task import DECLARATION, write_toy_task

from benchmark.data import DataStore, wanted_files
from benchmark.task import Task, read_task


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class LocalMirror(ThreadingHTTPServer):
    """Serves ``files`` (path without the first slash -> content); records what was asked for.

    ``cuts``: for each of the next answers, after how many bytes the connection is closed. Without
    ``ranges`` every answer is the whole file; without ``lengths`` none says how long it is; without
    ``validators`` none has an ETag. ``shift`` is added to the start of every range. ``gate``, where
    it is set, holds every answer back until it is opened.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.sent = 0
        self.cuts: list[int] = []
        self.ranges = self.lengths = self.validators = True
        self.shift = 0
        self.status: dict[str, int] = {}
        self.gate: threading.Event | None = None

    @property
    def url(self) -> str:
        """Its address, without a slash at the end."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are no news."""


class _Handler(BaseHTTPRequestHandler):
    server: LocalMirror

    def do_GET(self) -> None:
        mirror = self.server
        name = self.path.lstrip("/")
        wanted = self.headers.get("Range")
        mirror.asked.append((name, wanted))
        if mirror.gate is not None:
            mirror.gate.wait(30)
        content = mirror.files.get(name)
        status = mirror.status.get(name, 404 if content is None else 200)
        if content is None or status >= 400:
            self._answer(status, {}, b"")
            return
        headers = {"ETag": f'"{sha256(content)[:16]}"'} if mirror.validators else {}
        condition = self.headers.get("If-Range")
        fits = condition is None or condition == headers.get("ETag")
        found = re.fullmatch(r"bytes=(\d+)-", wanted or "")
        if found and mirror.ranges and fits:
            start = int(found[1]) + mirror.shift
            if start >= len(content):
                self._answer(416, {"Content-Range": f"bytes */{len(content)}"}, b"")
                return
            last = len(content) - 1
            headers["Content-Range"] = f"bytes {start}-{last}/{len(content)}"
            status, content = 206, content[start:]
        self._answer(status, headers, content)

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        mirror = self.server
        cut = mirror.cuts.pop(0) if mirror.cuts and status < 400 else len(body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if mirror.lengths:
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body[:cut])
        mirror.sent += len(body[:cut])
        self.close_connection = True

    def log_message(self, format: str, *arguments: object) -> None:
        """No lines on stderr."""


@contextmanager
def local_mirror() -> Iterator[LocalMirror]:
    """A running server; ended when the block is left."""
    server = LocalMirror()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


EVALUATOR = '''\
import json

from benchmark.artifact import Artifact
from benchmark.candidates import PythonConstruction
from benchmark.data import data_file
from benchmark.evaluator import Score


class Weighted(PythonConstruction):
    """Sum of the numbers times the weight in the data file."""

    def __init__(self, setup):
        super().__init__(setup)
        if setup.variant == "embedded":
            self.weight = 1.0
        else:
            self.weight = json.loads(data_file(setup, "weight.json").read_text())

    def convert(self, returned):
        return Artifact(returned)

    def score(self, artifact, stage):
        total = sum(artifact.construction) * self.weight
        return Score(search=total, objective=total)


EVALUATOR = Weighted
'''

WEIGHT = b"2.5\n"
MIRRORED = "toys/weight.json"


def declared(content: bytes = WEIGHT, *, name: str = "weight.json", **fields: str) -> str:
    """One ``[[data]]`` table; ``fields`` (TOML values) replace the usual ones, "" removes one."""
    usual = {
        "mirror": f'{{ path = "{MIRRORED}", sha256 = "{sha256(content)}" }}',
        "licence": '"CC0"',
        "size": str(max(1, len(content))),
    }
    lines = [f'name = "{name}"']
    lines += [f"{key} = {value}" for key, value in {**usual, **fields}.items() if value]
    return "\n".join(["\n[[data]]", *lines, ""])


def source(url: str, content: bytes = WEIGHT) -> str:
    """The field ``source`` for a file that is downloaded as it is."""
    return f'{{ url = "{url}", sha256 = "{sha256(content)}" }}'


def write_data_task(
    parent: Path, *tables: str, variants: str = '["official"]', name: str = "vector"
) -> Task:
    """The toy task ``toys/<name>`` with the tables ``[[data]]``, by default :func:`declared`."""
    head = DECLARATION.replace("[anchors]", f"variants = {variants}\n\n[anchors]", 1)
    declaration = head + "".join(tables or [declared()])
    folder = write_toy_task(parent, declaration=declaration, name=name)
    (folder / "evaluator.py").write_text(EVALUATOR)
    return read_task(folder)


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
