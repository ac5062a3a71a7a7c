"""A method as a process: JSON lines over its stdin and stdout (docs/adding-a-method.md).

We write ``{"event": "start", ...}``, an ``evaluation`` for the initial program and for each
proposal, and ``{"event": "propose", "t": ...}`` when we wait for a program; at last
``{"event": "end", ...}``. The process answers ``propose`` with ``{"program": "..."}`` or
``{"done": "why"}``. Its stderr goes to ``method.log`` beside the journal.

The process is the user's own: it is not sandboxed and keeps its environment. It leads a process
group of its own, which is killed when the run ends, whatever the reason.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from method.config import ConfigProblem
from method.secrets import Secrets
from method.sources import MethodProblem

PROTOCOL = "evoduet.external/1"
LONGEST_LINE = 8 << 20
"""Bytes of one message."""
LOG_BYTES = 16 << 20
"""So much of what the process prints to stderr is kept."""
LEAVE_S = 5.0
"""How long it may take to leave after it was told the end."""
LOG_NAME = "method.log"
_TAIL = 2000
_KEYS = frozenset({"program", "parent", "changes", "done"})


def check_command(command: Sequence[str]) -> None:
    """Raise :class:`ConfigProblem` for a program that is not there, or a key among the words."""
    secrets = Secrets.of_environment()
    if any(secrets.clean_message(word) != word for word in command):
        raise ConfigProblem(
            "--command: holds a key, which the journal would keep; the process inherits the "
            "environment, let it read the key there"
        )
    if shutil.which(command[0]) is None:
        raise ConfigProblem(f"--command {command[0]}: no such program on the PATH")


class ProcessSource:
    """:class:`~method.sources.Source` that is a process."""

    def __init__(self, name: str, command: Sequence[str], folder: Path) -> None:
        self.name = name
        self._command = tuple(command)
        self._log = folder / LOG_NAME
        self._secrets = Secrets.of_environment()
        self._queue: list[bytes] = []
        self._lines = 0
        self._tail = b""
        self._process: asyncio.subprocess.Process | None = None
        self._pump: asyncio.Task[None] | None = None

    async def open(self, start: Mapping[str, Any]) -> None:
        self._queue.insert(0, _line({"event": "start", "protocol": PROTOCOL, **start}))
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                limit=LONGEST_LINE,
                start_new_session=True,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        except OSError as error:
            raise MethodProblem(f"{self._command[0]}: {error.strerror}") from None
        self._pump = asyncio.ensure_future(self._keep_stderr(self._process))

    def tell(self, verdict: Mapping[str, Any]) -> None:
        self._queue.append(_line({"event": "evaluation", **verdict}))

    async def ask(self, t: int) -> Mapping[str, Any]:
        assert self._process is not None
        self._queue.append(_line({"event": "propose", "t": t}))
        assert self._process.stdout is not None
        await self._send(self._process)
        try:
            line = await self._process.stdout.readline()
        except ValueError:
            raise MethodProblem(
                f"{self.name} wrote a line of more than {LONGEST_LINE >> 20} MiB"
            ) from None
        if not line.endswith(b"\n"):
            raise await self._died(self._process)
        self._lines += 1
        return self._message(line)

    async def close(self, reason: str) -> None:
        process = self._process
        if process is None:
            return
        try:
            if reason != "stopped" and process.returncode is None:
                self._queue.append(_line({"event": "end", "reason": reason}))
                with suppress(TimeoutError):
                    async with asyncio.timeout(LEAVE_S):
                        await self._leave(process)
        finally:
            _kill_group(process.pid, signal.SIGKILL)
        await process.wait()
        await self._drain(process)

    async def _drain(self, process: asyncio.subprocess.Process) -> None:
        """Empty the pipes of a process that is gone; one that left its group may hold them."""
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                while await process.stdout.read(1 << 16):
                    pass
                if self._pump is not None:
                    await self._pump
        if self._pump is not None:
            self._pump.cancel()

    async def _leave(self, process: asyncio.subprocess.Process) -> None:
        """Say the end, and read on so that no full pipe keeps the process from leaving."""
        assert process.stdin is not None
        assert process.stdout is not None
        await self._send(process)
        process.stdin.close()
        while await process.stdout.read(1 << 16):
            pass
        await process.wait()

    async def _send(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        # A process that is gone is noticed, and told with its exit code, where we read.
        with suppress(BrokenPipeError, ConnectionResetError):
            while self._queue:
                process.stdin.write(self._queue.pop(0))
                await process.stdin.drain()

    def _message(self, line: bytes) -> Mapping[str, Any]:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            text = self._secrets.clean_message(line[:4096].decode("utf-8", errors="replace"))
            shown = text[:80].strip()
            raise MethodProblem(
                f"{self.name}: line {self._lines} of its stdout is no JSON object: {shown!r}; "
                "stdout is for messages, print everything else to stderr"
            )
        unknown = sorted(message.keys() - _KEYS)
        if unknown or not message.keys() & {"program", "done"}:
            what = f"unknown key {unknown[0]!r}" if unknown else "neither program nor done"
            raise MethodProblem(f"{self.name}: line {self._lines} of its stdout has {what}")
        return message

    async def _died(self, process: asyncio.subprocess.Process) -> MethodProblem:
        """Its stdout is at its end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_S):
                await process.wait()
                if self._pump is not None:
                    await asyncio.shield(self._pump)
        code = process.returncode
        if code is None:
            how = "closed its stdout"
        elif code < 0:
            how = f"was killed by signal {signal.Signals(-code).name}"
        else:
            how = f"ended with exit code {code}"
        last = self._tail.decode("utf-8", errors="replace").strip().splitlines()
        said = f" ({self._secrets.clean_message(last[-1])})" if last else ""
        return MethodProblem(f"{self.name} {how} without saying done{said}; see {self._log}")

    async def _keep_stderr(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        written = self._log.stat().st_size if self._log.exists() else 0
        rest = b""
        with self._log.open("ab", buffering=0) as log:
            while part := await process.stderr.read(1 << 16):
                self._tail = (self._tail + part)[-_TAIL:]
                lines, newline, rest = (rest + part).rpartition(b"\n")
                if len(rest) > _TAIL:  # a line without end
                    lines, newline, rest = lines + newline + rest, b"", b""
                written += log.write(self._clean(lines + newline)[: LOG_BYTES - written])
            log.write(self._clean(rest)[: LOG_BYTES - written])

    def _clean(self, text: bytes) -> bytes:
        """What the log keeps: all but the values of keys."""
        return self._secrets.clean(text.decode("utf-8", "surrogateescape")).encode(
            "utf-8", "surrogateescape"
        )


def _line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, allow_nan=False).encode() + b"\n"


def _kill_group(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
