"""A model that remembers: records what a client answers, or answers from a recording alone."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any, Protocol, runtime_checkable

from method.cassette import Cassette, Occurrences, asked_of_model, canonical_sha256
from method.protocols import LLM, Completion, Request, Usage

_UNRECORDED = ("quota", "key")
"""No answers: the run pauses and asks again."""


@runtime_checkable
class ResolvesSampling(Protocol):
    """A model that knows beforehand which sampling parameters it will really send."""

    def effective(self, request: Request) -> Mapping[str, Any]:
        """What is sent of the requested parameters."""


class RecordedModel:
    """Answers from ``cassette`` and, where that has none, from ``model`` (``None``: a replay).

    ``name`` is the model's name as the user typed it: part of every key. Raises
    :class:`~method.cassette.CassetteMiss` from :meth:`sample` in a replay.
    """

    def __init__(
        self, name: str, cassette: Cassette, model: LLM | None, occurrences: Occurrences
    ) -> None:
        self.name = name if model is None else model.name
        self._typed_name = name
        self._cassette = cassette
        self._model = model
        self._occurrences = occurrences

    async def sample(self, request: Request) -> list[Completion]:
        # Numbered before anything is awaited: parallel calls have the same numbers in every run.
        asked = [self._describe(replace(request, slots=(slot,))) for slot in request.slots]
        answers = (
            self._answer(replace(request, slots=(slot,)), described)
            for slot, described in zip(request.slots, asked, strict=True)
        )
        return list(await asyncio.gather(*answers))

    async def _answer(self, request: Request, described: Mapping[str, Any]) -> Completion:
        # What was asked for but not sent changes nothing, so it is recorded but no part of the key.
        key = canonical_sha256({n: v for n, v in described.items() if n != "requested"})
        what = f"the {request.purpose} call of slot {request.slots[0]}"
        entry = self._cassette.find(key, or_fail=what)
        if entry is not None:
            return completion_of(entry["completion"])
        assert self._model is not None
        (answer,) = await self._model.sample(request)
        if answer.error_kind not in _UNRECORDED:
            self._cassette.append({"key": key, "request": described, "completion": asdict(answer)})
        return answer

    def _describe(self, request: Request) -> dict[str, Any]:
        """All that the answer depends on, and the sampling parameters as they were requested."""
        (slot,) = request.slots
        messages = [dict(message) for message in request.messages]
        same = asked_of_model(request.purpose, slot, prompt_sha256(request))
        described = {
            "model": self._typed_name,
            "purpose": request.purpose,
            "messages": messages,
            "tools": [dict(tool) for tool in request.tools],
            "tool_choice": request.tool_choice,
            "schema": None if request.response_schema is None else dict(request.response_schema),
            "slot": slot,
            "occurrence": self._occurrences.take(same),
            "requested": asdict(request.sampling),
        }
        return {**described, "sampling": self._sampling(request, described)}

    def _sampling(self, request: Request, described: Mapping[str, Any]) -> Any:
        if self._model is None:
            return self._cassette.effective(described)
        if isinstance(self._model, ResolvesSampling):
            return dict(self._model.effective(request))
        return asdict(request.sampling)


def prompt_sha256(request: Request) -> str:
    """The name under which :class:`~method.ports.Ports` stores the messages of a request."""
    text = json.dumps(list(request.messages), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()


def completion_of(fields: Mapping[str, Any]) -> Completion:
    """A completion from its JSON."""
    return Completion(
        **{
            **fields,
            "usage": Usage(**fields["usage"]),
            "tool_calls": tuple(fields["tool_calls"]),
            "dropped_params": tuple(fields["dropped_params"]),
        }
    )
