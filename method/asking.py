"""One structured question to the model: prompt, answer, and at most one further try."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from method.protocols import Completion, Purpose, Request, RunContext


class Readable(Protocol):
    """What a reader returns: usable unless it names an error."""

    @property
    def error(self) -> str: ...


ReadT = TypeVar("ReadT", bound=Readable)


@dataclass(frozen=True)
class Answered(Generic[ReadT]):
    """A completion and what was read from it (``None``: the call itself failed)."""

    completion: Completion
    read: ReadT | None

    @property
    def usable(self) -> bool:
        """Whether there is an answer and it is well formed."""
        return self.read is not None and not self.read.error


def question(
    run: RunContext,
    purpose: Purpose,
    prompt: str,
    *,
    slots: Sequence[int] = (0,),
    system: str = "",
    schema: type[BaseModel] | None = None,
) -> Request:
    """A request without tools: one user message, and a system message if there is one.

    ``schema`` is asked for only when the run's ``json.mode`` says so.
    """
    messages: list[Mapping[str, Any]] = [{"role": "user", "content": prompt}]
    if system:
        messages.insert(0, {"role": "system", "content": system})
    return Request(
        purpose=purpose,
        messages=tuple(messages),
        sampling=run.settings.sampling,
        response_schema=_response_schema(run.settings.rules.json_mode, schema),
        slots=tuple(slots),
    )


def _response_schema(mode: str, schema: type[BaseModel] | None) -> Mapping[str, Any] | None:
    if schema is None or mode == "off":
        return None
    return {"type": "object"} if mode == "object" else schema.model_json_schema()


async def ask(
    run: RunContext, request: Request, read: Callable[[str], ReadT]
) -> list[Answered[ReadT]]:
    """One answer for each slot of the request, in slot order.

    A malformed answer is asked for once more if the rule ``reask`` allows it, with a line that
    names what was wrong; a call that failed is not repeated here (the client retries).
    """
    completions = await run.sample(request)
    answers = [_read(completion, read) for completion in completions]
    for _ in range(run.settings.rules.reask):
        for place, slot in enumerate(request.slots):
            answer = answers[place]
            if answer.read is not None and answer.read.error:
                (again,) = await run.sample(_corrected(request, slot, answer.read.error))
                answers[place] = _read(again, read)
    return answers


def _read(completion: Completion, read: Callable[[str], ReadT]) -> Answered[ReadT]:
    if completion.error is not None:
        return Answered(completion, None)
    return Answered(completion, read(completion.text))


def _corrected(request: Request, slot: int, error: str) -> Request:
    *before, last = request.messages
    line = f"Your last answer could not be used ({error}). Answer again in the format asked for."
    messages = (*before, {**last, "content": f"{last['content']}\n{line}\n"})
    return replace(request, messages=messages, slots=(slot,))


@dataclass(frozen=True)
class FreeText:
    """An answer in words (empty when the call failed), the failure, and the call's name."""

    text: str
    error: str | None
    call_id: str | None


async def free_text(run: RunContext, request: Request, limit: int) -> FreeText:
    """The trimmed text of one answer, at most ``limit`` characters."""
    (completion,) = await run.sample(request)
    if completion.error is not None:
        return FreeText("", completion.error, completion.call_id)
    return FreeText(completion.text.strip()[:limit], None, completion.call_id)
