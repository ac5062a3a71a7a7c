"""Reading what litellm returns: text, tool calls, usage, and what a provider says it cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from method.protocols import Usage
from method.retrying import CallFailed
from method.secrets import Secrets


@dataclass(frozen=True)
class Answer:
    """One answer. ``reported_cost``: dollars by the provider's own account, or ``None``.

    ``usage_object`` is litellm's form of the usage, from which it computes costs.
    """

    text: str
    finish_reason: str | None
    tool_calls: tuple[Mapping[str, Any], ...]
    usage: Usage
    reported_cost: float | None
    model: str | None
    request_id: str | None
    usage_object: Any = None

    @property
    def tokens(self) -> int | None:
        """Tokens in and out; ``None`` when the provider does not say."""
        if self.usage.prompt is None or self.usage.completion is None:
            return None
        return self.usage.prompt + self.usage.completion


def read_answer(response: Any, secrets: Secrets) -> Answer:
    """The answer in a response. Raises :class:`CallFailed` when there is none in it."""
    choices = getattr(response, "choices", None) or []
    if not choices:
        raise CallFailed("the response holds no answer", "transport", retry=True)
    message = choices[0].message
    usage = getattr(response, "usage", None)
    return Answer(
        text=secrets.clean(message.content or ""),
        finish_reason=choices[0].finish_reason,
        tool_calls=tuple(_tool_call(call) for call in message.tool_calls or ()),
        usage=read_usage(usage),
        reported_cost=_dollars(getattr(usage, "cost", None)),
        model=getattr(response, "model", None),
        request_id=getattr(response, "id", None),
        usage_object=usage,
    )


def read_usage(usage: Any) -> Usage:
    """Token counts; litellm writes zeros where a provider says nothing, which becomes ``None``."""
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    if not prompt and not completion:
        return Usage()
    given = getattr(usage, "prompt_tokens_details", None)
    made = getattr(usage, "completion_tokens_details", None)
    return Usage(
        prompt=prompt,
        completion=completion,
        reasoning=_count(made, "reasoning_tokens"),
        cached=_count(given, "cached_tokens"),
        cache_write=_count(usage, "cache_creation_input_tokens"),
    )


def _count(source: Any, name: str) -> int | None:
    value = getattr(source, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _dollars(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def _tool_call(call: Any) -> Mapping[str, Any]:
    """As the model made it, with what some providers want to see again in the next round."""
    fields: dict[str, Any] = call.model_dump(mode="json", exclude_none=True)
    fields.pop("index", None)
    return fields
