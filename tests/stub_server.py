"""An HTTP server in this process that answers, fails and stalls as a script says."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal


@dataclass(frozen=True)
class Seen:
    """A request: its number from 0, path, headers (lower case) and JSON body."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Reply:
    """What is sent back. ``fault``: the connection breaks before or in the middle of the body, or
    nothing is sent until the server closes."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay_s: float = 0.0
    fault: Literal["none", "drop", "drop_in_body", "stall"] = "none"

    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


Script = Callable[[Seen], Reply]


class StubServer:
    """Runs while its ``with`` block does; ``address`` has no trailing slash."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.seen: list[Seen] = []
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> StubServer:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                """Quiet."""

            def do_GET(self) -> None:
                stub._answer(self)

            def do_POST(self) -> None:
                stub._answer(self)

        return Handler

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        size = int(handler.headers.get("content-length") or 0)
        body = json.loads(handler.rfile.read(size)) if size else None
        headers = {name.lower(): value for name, value in handler.headers.items()}
        with self._lock:
            seen = Seen(len(self.seen), handler.path, headers, body)
            self.seen.append(seen)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            reply = self.script(seen)
            time.sleep(reply.delay_s)
        finally:
            with self._lock:
                self._now -= 1
        if reply.fault == "stall":
            self._closing.wait(30)
        if reply.fault in ("drop", "stall"):
            self._hang_up(handler)
            return
        content = reply.content()
        handler.send_response(reply.status)
        handler.send_header("content-type", reply.content_type)
        handler.send_header("content-length", str(len(content)))
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        if reply.fault == "drop_in_body":
            handler.wfile.write(content[: len(content) // 2])
            handler.wfile.flush()
            self._hang_up(handler)
        else:
            handler.wfile.write(content)

    @staticmethod
    def _hang_up(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        try:
            handler.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the other side was faster


def in_turn(*replies: Reply) -> Script:
    """The replies one after the other; the last is repeated."""
    return lambda seen: replies[min(seen.number, len(replies) - 1)]


def chat(text: str | None = "hello", **changes: Any) -> dict[str, Any]:
    """A chat completion as OpenAI-compatible servers write it; ``changes`` replace whole fields."""
    return {
        "id": "answer-1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500},
        **changes,
    }


def failure(message: str, **fields: Any) -> dict[str, Any]:
    """An error as OpenAI-compatible servers write it."""
    return {"error": {"message": message, "type": "some_error", **fields}}


class Sleeps(list[float]):
    """A sleep that takes no time and remembers for how long it was asked."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)
