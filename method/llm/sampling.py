"""Which sampling parameters a model is sent: resolved once, recorded, never dropped in silence.

Two rules. ``supported``: what litellm says the model takes, tried parameter by parameter, because
some models refuse temperature and top_p only while they reason. ``release``: the authors' rule by
model name (methods.md 4.8), so that a comparison run sends what the paper's runs sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from method.config import ParameterRule
from method.protocols import Sampling

_REASONING = re.compile(r"(?:o1|o3|o4)(?:-|\Z)|gpt-5|gpt-6")
_ORDER = ("max_tokens", "reasoning_effort", "temperature", "top_p", "seed")
"""In this order parameters are tried: what gives way is temperature, not the reasoning effort."""


@dataclass(frozen=True)
class Resolved:
    """``effective``: what is sent, by OpenAI's names of parameters; ``dropped``: what is not."""

    effective: Mapping[str, Any]
    dropped: tuple[str, ...] = ()

    def arguments(self, rule: ParameterRule) -> dict[str, Any]:
        """Keyword arguments of litellm's call."""
        given = dict(self.effective)
        if rule == "release":  # sent even where litellm's own table would refuse
            given["allowed_openai_params"] = [name for name in given if name in _ORDER]
        if "reasoning" in given:
            given["extra_body"] = {"reasoning": given.pop("reasoning")}
        return given


def requested(sampling: Sampling) -> dict[str, Any]:
    """The parameters of a request that have a value, in the order in which they are tried."""
    values = {
        "max_tokens": sampling.max_output_tokens,
        "reasoning_effort": sampling.reasoning_effort,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
    }
    return {name: values[name] for name in _ORDER if values[name] is not None}


def supported_parameters(
    litellm: Any, model: str, provider: str, wanted: Mapping[str, Any]
) -> Resolved:
    """The largest set that litellm sends to ``model`` (without provider) as it is.

    Parameters are added one after the other; one that makes litellm refuse the set is dropped.
    """
    effective: dict[str, Any] = {}
    for name, value in wanted.items():
        if _accepted(litellm, model, provider, {**effective, name: value}):
            effective[name] = value
    return _resolved(effective, wanted)


def _accepted(litellm: Any, model: str, provider: str, values: Mapping[str, Any]) -> bool:
    try:
        litellm.utils.get_optional_params(model=model, custom_llm_provider=provider, **values)
    except (litellm.UnsupportedParamsError, litellm.BadRequestError):
        return False
    return True


def released_parameters(
    model: str, provider: str, api_base: str | None, wanted: Mapping[str, Any]
) -> Resolved:
    """What the release sends: no temperature and no top_p to reasoning models of OpenAI.

    OpenRouter is sent everything, the reasoning effort as an object.
    """
    if provider == "openrouter":
        effective = dict(wanted)
        if "reasoning_effort" in effective:
            effective["reasoning"] = {"effort": effective.pop("reasoning_effort")}
        return Resolved(effective)
    name = model.rpartition("/")[2].lower()
    at_openai = provider == "openai" and _host(api_base) in ("", "api.openai.com")
    plain = _REASONING.match(name) or (name.startswith("gpt-oss") and at_openai)
    kept = {n: v for n, v in wanted.items() if not plain or n not in ("temperature", "top_p")}
    return _resolved(kept, wanted)


def _host(api_base: str | None) -> str:
    return "" if api_base is None else urlsplit(api_base).hostname or ""


def _resolved(effective: Mapping[str, Any], wanted: Mapping[str, Any]) -> Resolved:
    return Resolved(effective, tuple(name for name in wanted if name not in effective))


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What holds a model to a format: any JSON object, or the schema of an answer."""
    if schema == {"type": "object"}:
        return {"type": "json_object"}
    name = re.sub(r"\W", "_", str(schema.get("title") or "answer"))
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": dict(schema), "strict": False},
    }
