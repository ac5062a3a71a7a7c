"""A scripted model behind an OpenAI-compatible address, and a look at what is left running."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from toy_task import write_toy_task

from benchmark.peers.system import ITERATIONS


class ScriptedModel(ThreadingHTTPServer):
    """Answers chat completions with ``answers`` in order, and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[str] = []
        self.prompts: list[dict[str, str]] = []

    @property
    def url(self) -> str:
        """The address to give as API base."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedModel

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.prompts.append({m["role"]: m["content"] for m in request["messages"]})
        answers, asked = self.server.answers, len(self.server.prompts)
        if asked > len(answers):
            self.send_error(400, "the script has no more answers")
            return
        body = json.dumps(_completion(answers[asked - 1])).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Stay silent."""


def _completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """A scripted model that listens for the time of the test."""
    with ScriptedModel() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A task folder: up to ten numbers in [0, 1], scored by their sum."""
    return write_toy_task(tmp_path)


@pytest.fixture
def running() -> Callable[[str], bool]:
    """Whether a process with this text in its command line is there, also in another namespace."""
    return _running


def _running(mark: str) -> bool:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if mark.encode() in words:
                return True
    return False


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], bool]:
    """Wait, for up to half a minute, until something holds."""
    return _eventually


def _eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.fixture
def start(model: ScriptedModel) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command of a README in its folder, three iterations against the scripted model."""

    def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
        script, *words = shlex.split(command)
        words = ["3" if word == str(ITERATIONS) else word for word in words]
        words = ["scripted" if word == "MODEL" else word for word in words]
        return subprocess.run(
            [Path(sys.executable).with_name(script), *words, "--api-base", model.url, "-o", "run"],
            cwd=folder,
            env={**os.environ, "OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run


@pytest.fixture
def edit() -> Callable[[str], str]:
    """A model's answer that adds code at the end of the editable region, as an edit."""
    return _edit


def _edit(code: str) -> str:
    end = "# EVOLVE-BLOCK-END"
    return (
        "I change this:\n\n"
        f"<<<<<<< SEARCH\n{end}\n=======\n{code.strip()}\n\n\n{end}\n>>>>>>> REPLACE\n"
    )


@pytest.fixture
def hanging() -> Callable[[str], str]:
    """Code that never ends, ignores SIGTERM, and leaves a process in a session of its own."""
    return _hanging


def _hanging(mark: str) -> str:
    return f"""
import signal, subprocess, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen(["sleep", "{mark}"], start_new_session=True)
while True:
    time.sleep(1)
"""
