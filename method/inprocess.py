"""A method as a class of another distribution: :class:`~method.plugins.Proposer` as a source."""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from method.external import LOG_NAME
from method.plugins import Proposer
from method.secrets import Secrets
from method.sources import MethodProblem

Result = TypeVar("Result")


class ClassSource:
    """:class:`~method.sources.Source` over an object in this process.

    Its calls run in a daemon thread: one that never returns cannot keep the run from ending. What
    it raises ends the run as resumable, with the traceback in ``method.log``.
    """

    def __init__(self, name: str, proposer: Proposer, folder: Path) -> None:
        self.name = name
        self._proposer = proposer
        self._log = folder / LOG_NAME
        self._queue: list[Mapping[str, Any]] = []

    async def open(self, start: Mapping[str, Any]) -> None:
        """The class was made with what it needs."""

    def tell(self, verdict: Mapping[str, Any]) -> None:
        self._queue.append(verdict)

    async def ask(self, t: int) -> Mapping[str, Any]:
        await self._deliver()
        answer = await self._call(self._proposer.propose)
        if answer is None:
            return {"done": "it has no further proposal"}
        if isinstance(answer, str):
            return {"program": answer}
        if not isinstance(answer, Mapping):
            raise MethodProblem(
                f"{self.name}: propose() returned a {type(answer).__name__}; return a program, a "
                "mapping with one, or None"
            )
        return answer

    async def close(self, reason: str) -> None:
        if reason != "stopped":
            await self._deliver()

    async def _deliver(self) -> None:
        while self._queue:
            verdict = self._queue.pop(0)
            await self._call(lambda verdict=verdict: self._proposer.observe(verdict))  # type: ignore[misc]

    def _problem(self, error: BaseException) -> MethodProblem:
        """What it raised, in one line; the traceback goes to the log."""
        secrets = Secrets.of_environment()
        text = "".join(traceback.format_exception(error))
        with suppress(OSError), self._log.open("a", encoding="utf-8") as log:
            log.write(secrets.clean_message(text))
        message = secrets.clean_message(" ".join(str(error).split()))
        return MethodProblem(f"{self.name}: {type(error).__name__}: {message}; see {self._log}")

    async def _call(self, function: Callable[[], Result]) -> Result:
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[Result] = loop.create_future()

        def finish(result: Result | None, error: BaseException | None) -> None:
            if outcome.done():
                return
            if error is not None:
                outcome.set_exception(error)
            else:
                outcome.set_result(result)  # type: ignore[arg-type]

        def work() -> None:
            result: Result | None = None
            problem: BaseException | None = None
            try:
                result = function()
            except BaseException as error:
                problem = self._problem(error)
            with suppress(RuntimeError):  # the run is over already
                loop.call_soon_threadsafe(finish, result, problem)

        threading.Thread(target=work, name=f"method {self.name}", daemon=True).start()
        return await outcome
