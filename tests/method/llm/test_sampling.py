"""Which parameters are sent: what the model supports, or what the authors' release sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from method.llm.library import load_litellm
from method.llm.sampling import (
    Resolved,
    released_parameters,
    requested,
    response_format,
    supported_parameters,
)
from method.protocols import Sampling

ALL = {"max_tokens": 32768, "reasoning_effort": "medium", "temperature": 0.7, "top_p": 0.95}
WITH_SEED = {**ALL, "seed": 3}


def test_only_what_has_a_value_is_requested() -> None:
    assert requested(Sampling()) == ALL
    assert requested(Sampling(None, None, 10, None, 0)) == {"max_tokens": 10, "seed": 0}


@pytest.mark.parametrize(
    ("model", "provider", "dropped"),
    [
        ("gpt-5.6-luna", "openai", ("temperature", "top_p")),
        ("gpt-5.6-sol", "openai", ("temperature", "top_p")),
        ("gemini-3.8-flash", "gemini", ("temperature", "top_p")),
        ("gpt-4o", "openai", ("reasoning_effort",)),
        ("qwen/qwen3.5-9b", "openrouter", ()),
        ("Qwen/Qwen3.5-9B", "hosted_vllm", ()),
        ("local-model", "openai", ()),
    ],
)
def test_supported(model: str, provider: str, dropped: tuple[str, ...]) -> None:
    resolved = supported_parameters(load_litellm(), model, provider, WITH_SEED)
    assert resolved.dropped == dropped
    assert resolved.effective == {n: v for n, v in WITH_SEED.items() if n not in dropped}


def test_temperature_stays_where_nothing_is_said_about_reasoning() -> None:
    """Some models refuse a temperature only while they reason."""
    wanted = {"max_tokens": 10, "reasoning_effort": "none", "temperature": 0.7}
    resolved = supported_parameters(load_litellm(), "gpt-5.6-luna", "openai", wanted)
    assert resolved.dropped == ()


PLAIN = {"max_tokens": 32768, "reasoning_effort": "medium"}
ROUTER = {
    "max_tokens": 32768,
    "temperature": 0.7,
    "top_p": 0.95,
    "reasoning": {"effort": "medium"},
}


@pytest.mark.parametrize(
    ("model", "provider", "api_base", "sent"),
    [
        ("gpt-5.6-luna", "openai", None, PLAIN),
        ("gpt-5.6-luna", "azure", None, PLAIN),
        ("some-route/GPT-6-nano", "openai", "https://gateway.example.edu/v1", PLAIN),
        ("o3-mini", "openai", None, PLAIN),
        ("o1", "openai", None, PLAIN),
        ("o3x", "openai", None, ALL),
        ("openai/gpt-5.6-luna", "openrouter", None, ROUTER),
        ("qwen/qwen3.5-9b", "openrouter", None, ROUTER),
        ("gemini-3.8-flash", "gemini", None, ALL),
        ("gemini-3.8-flash", "openai", "https://gateway.example.edu/v1", ALL),
        ("Qwen3.5-9B", "hosted_vllm", "http://localhost:8000/v1", ALL),
        ("gpt-4o", "openai", None, ALL),
        ("gpt-oss-120b", "openai", None, PLAIN),
        ("gpt-oss-120b", "openai", "https://api.openai.com/v1", PLAIN),
        ("gpt-oss-120b", "openai", "http://localhost:8000/v1", ALL),
        ("gpt-oss-120b", "groq", None, ALL),
    ],
)
def test_released(model: str, provider: str, api_base: str | None, sent: Mapping[str, Any]) -> None:
    resolved = released_parameters(model, provider, api_base, ALL)
    assert resolved.effective == sent
    kept = {"reasoning_effort" if name == "reasoning" else name for name in sent}
    assert set(resolved.dropped) == set(ALL) - kept


def test_the_release_sends_what_litellm_would_refuse() -> None:
    litellm = load_litellm()
    arguments = Resolved(ALL).arguments("release")
    sent = litellm.utils.get_optional_params(
        model="gemini-3.8-flash", custom_llm_provider="gemini", **arguments
    )
    assert (sent["temperature"], sent["top_p"]) == (0.7, 0.95)
    assert Resolved(ROUTER).arguments("release")["extra_body"] == {
        "reasoning": {"effort": "medium"}
    }
    assert "allowed_openai_params" not in Resolved(ALL).arguments("supported")


def test_formats() -> None:
    assert response_format({"type": "object"}) == {"type": "json_object"}
    schema = {"type": "object", "title": "Query: answer", "properties": {"query": {}}}
    assert response_format(schema)["json_schema"]["name"] == "Query__answer"
