"""How models are sampled and reached and the web is searched. Keys stand in the environment."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

ParameterRule = Literal["supported", "release"]


class SamplingConfig(BaseModel):
    """Requested sampling parameters of every model call."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float | None = 0.7
    top_p: float | None = 0.95
    max_output_tokens: int = Field(default=32768, gt=0)
    reasoning_effort: str | None = "medium"


class ClientConfig(BaseModel):
    """How the model is reached. Keys stand in the environment, never here."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    api_base: str | None = None
    """Address of an OpenAI-compatible server or gateway, for example ``http://localhost:8000/v1``.
    It is sent a key only if ``api_key_env`` names one."""
    api_key_env: str | None = None
    """Environment variable that holds the key, where it is not the provider's usual one."""
    params: ParameterRule = "supported"
    """Send what the model supports, or what the authors' release would send."""
    timeout_s: Annotated[float, Field(gt=0)] = 1800.0
    """Wall clock of one attempt."""
    retries: Annotated[int, Field(ge=0)] = 3
    concurrency: Annotated[int, Field(ge=1)] = 8
    requests_per_minute: Annotated[int, Field(ge=1)] | None = None
    tokens_per_minute: Annotated[int, Field(ge=1)] | None = None

    @field_validator("api_base")
    @classmethod
    def _plain_address(cls, value: str | None) -> str | None:
        return plain_address(value)


class WebConfig(BaseModel):
    """How the web is searched; the key is ``TAVILY_API_KEY`` in the environment."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    keyless: bool = False
    """Search without a key, at the provider's limits for it; never happens by accident."""
    api_base: str | None = None
    """Address of a server that speaks Tavily's protocol."""
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    timeout_s: Annotated[float, Field(gt=0, le=120)] = 60.0
    retries: Annotated[int, Field(ge=0)] = 3
    concurrency: Annotated[int, Field(ge=1)] = 8
    requests_per_minute: Annotated[int, Field(ge=1)] | None = None

    @field_validator("api_base")
    @classmethod
    def _plain_address(cls, value: str | None) -> str | None:
        return plain_address(value)


def plain_address(value: str | None) -> str | None:
    """An http(s) address that holds no secret. Raises ``ValueError``."""
    if value is None:
        return None
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an http(s) address")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("must not hold a user, password or query; keys go into the environment")
    return value
