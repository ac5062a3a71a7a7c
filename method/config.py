"""What a run is: one model of every number and switch, filled from a file, options or both.

Unknown keys fail: a typo must not silently run something else.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from method.protocols import Sampling
from method.rules import Preset, Rules
from method.scaffolds.options import check_options

SCAFFOLDS = ("openevolve-native", "openevolve-package", "topk", "evox")
RETRIEVERS = ("none", "oracle", "joint", "sequential", "evoduet")
GateKind = Literal["knowledge", "random", "stagnation", "always", "never"]
ParameterRule = Literal["supported", "release"]

ALIASES: Mapping[str, str] = {
    "inner_rounds": "rounds",
    "query_count": "queries",
    "documents_per_query": "per_query",
    "search_top_k": "retain",
    "num_generations": "candidates",
}
"""Names of the authors' command line, accepted in files."""

ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    "J3k3": {"queries": 3, "retain": 3},
    "J3k5": {"queries": 3, "retain": 5},
    "J5k3": {"queries": 5, "retain": 3},
    "N1": {"candidates": 1},
    "N8": {"candidates": 8},
    "N16": {"candidates": 16},
    "R1": {"rounds": 1},
    "random-gate": {"gate": "random", "gate_p": 0.5},
    "stagnation-gate": {"gate": "stagnation"},
}
"""Settings of the paper that differ from the defaults, by name."""


class ConfigProblem(ValueError):
    """A run cannot be configured so; the message names the key and what is allowed."""


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


class RunConfig(BaseModel):
    """Everything that decides a run. Defaults are the paper's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str
    method: str = "evoduet"
    """``[SCAFFOLD+]RETRIEVER``."""
    scaffold_options: dict[str, Any] = {}
    """Options of ``openevolve-package`` and ``evox``, see :mod:`method.scaffolds.options`."""
    model: str
    search: str = "offline"
    """``tavily`` (the web), ``offline`` (the oracle documents), a folder of texts, or ``none``."""
    blocklist: bool = True
    """Keep the benchmark's own and the paper's repositories out of search results."""
    prices: str | None = None
    """A price file, or the preset ``paper-gateway``."""
    cassette: str | None = None
    """File of recorded model and search answers."""
    cassette_mode: Literal["record", "replay", "auto"] = "record"
    """``record`` starts a new file, ``replay`` answers from one alone, ``auto`` replays what a file
    holds and records the rest."""
    client: ClientConfig = ClientConfig()
    web: WebConfig = WebConfig()
    rules: Preset = "official"
    switches: dict[str, Any] = {}
    edit: Literal["diff", "full"] = "diff"
    gate: GateKind = "knowledge"
    gate_p: Annotated[float, Field(ge=0, le=1)] = 0.5
    gate_window: Annotated[int, Field(ge=1)] | None = None
    rounds: Annotated[int, Field(ge=1)] = 3
    queries: Annotated[int, Field(ge=1)] = 1
    per_query: Annotated[int, Field(ge=1, le=20)] = 5
    retain: Annotated[int, Field(ge=0)] = 3
    candidates: Annotated[int, Field(ge=1)] = 8
    iterations: Annotated[int, Field(ge=0)] | None = None
    """T; by default what the task declares (100, or 20 for the simple ones)."""
    seed: int = 42
    max_attempts: Annotated[int, Field(ge=1)] = 3
    max_cost: Annotated[float, Field(ge=0)] | None = None
    max_hours: Annotated[float, Field(ge=0)] | None = None
    max_tokens: Annotated[int, Field(ge=0)] | None = None
    max_searches: Annotated[int, Field(ge=0)] | None = None
    on_outage: Literal["pause", "continue"] = "pause"
    sampling: SamplingConfig = SamplingConfig()
    report_iterations: tuple[int, ...] = (10, 25, 50, 75, 100)
    variant: str | None = None
    options: dict[str, str] = {}
    isolation: str = "auto"
    workers: Annotated[int, Field(ge=1)] = 1
    """Evaluations at a time: the same for every method, so that load biases none."""
    enforce_blocks: Literal["off", "revert", "reject"] = "off"

    @field_validator("method")
    @classmethod
    def _known_method(cls, value: str) -> str:
        scaffold, retriever = split_method(value)
        return f"{scaffold}+{retriever}"

    @field_validator("scaffold_options")
    @classmethod
    def _known_options(cls, value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if "method" in info.data:
            check_options(split_method(info.data["method"])[0], value)
        return value

    @model_validator(mode="after")
    def _replay_needs_a_cassette(self) -> RunConfig:
        if self.cassette is None and self.cassette_mode != "record":
            raise ValueError(f"{self.cassette_mode} needs a recording: give --cassette FILE")
        return self

    @property
    def scaffold(self) -> str:
        """Name of the scaffold."""
        return split_method(self.method)[0]

    @property
    def retriever(self) -> str:
        """Name of the retriever."""
        return split_method(self.method)[1]

    def resolved_rules(self) -> Rules:
        """The preset with the single switches."""
        return Rules.preset(self.rules, self.switches)

    def settings(self) -> RunSettings:
        """The numbers that retrievers and gates read."""
        return RunSettings(self)


class RunSettings:
    """:class:`~method.protocols.Settings` of a configuration."""

    def __init__(self, config: RunConfig) -> None:
        self.rounds = config.rounds
        self.queries = config.queries
        self.per_query = config.per_query
        self.retain = config.retain
        self.candidates = config.candidates
        if config.iterations is None:
            raise ConfigProblem("iterations: not resolved; a run takes them from its task")
        self.iterations = config.iterations
        self.sampling = Sampling(**config.sampling.model_dump())
        self.rules = config.resolved_rules()


def split_method(value: str) -> tuple[str, str]:
    """Scaffold and retriever of ``[SCAFFOLD+]RETRIEVER``. Raises ``ValueError``."""
    scaffold, plus, retriever = value.rpartition("+")
    scaffold = scaffold if plus else SCAFFOLDS[0]
    if scaffold not in SCAFFOLDS or retriever not in RETRIEVERS:
        raise ValueError(
            f"unknown method {value!r}: [SCAFFOLD+]RETRIEVER with SCAFFOLD one of "
            f"{', '.join(SCAFFOLDS)} and RETRIEVER one of {', '.join(RETRIEVERS)}"
        )
    return scaffold, retriever


def make_config(file: Path | None = None, **options: Any) -> RunConfig:
    """A configuration from a TOML file, options that are not ``None``, or both (options win).

    Raises :class:`ConfigProblem` naming the key.
    """
    values: dict[str, Any] = {}
    if file is not None:
        try:
            values = tomllib.loads(file.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigProblem(f"{file}: not TOML ({error})") from None
        values = {ALIASES.get(name, name): value for name, value in values.items()}
    values |= {name: value for name, value in options.items() if value is not None}
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(str(part) for part in problem["loc"])
        text = "unknown key" if problem["type"] == "extra_forbidden" else problem["msg"]
        text = text.removeprefix("Value error, ")
        place = "" if file is None else str(file)
        raise ConfigProblem(": ".join(part for part in (place, key, text) if part)) from None
