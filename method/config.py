"""What a run is: one model of every number and switch, filled from a file, options or both.

Unknown keys fail: a typo must not silently run something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from method.client_config import ClientConfig, ParameterRule, SamplingConfig, WebConfig
from method.config_sources import canonical, read_file
from method.naming import EXTERNAL, RETRIEVERS, SCAFFOLDS, MethodName, parse_method
from method.presets import layered
from method.protocols import Sampling
from method.retrievers.options import check_retriever_options
from method.rules import Preset, Rules
from method.scaffolds.options import check_options

__all__ = [
    "ClientConfig",
    "ConfigProblem",
    "ParameterRule",
    "RunConfig",
    "SamplingConfig",
    "WebConfig",
    "make_config",
]

GateKind = Literal["knowledge", "random", "stagnation", "always", "never"]
OWN_MODEL = "own"
"""What the manifest names where a method asks models by itself."""


class ConfigProblem(ValueError):
    """A run cannot be configured so; the message names the key and what is allowed.

    ``missing``: not the configuration is at fault, but what this machine has.
    """

    missing = False


class MissingProblem(ConfigProblem):
    """Something that a run needs is not here (a library, a key); the message says how to get it."""

    missing = True


class RunConfig(BaseModel):
    """Everything that decides a run. Defaults are the paper's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str
    presets: tuple[str, ...] = ()
    """Names of :mod:`method.presets` that set keys of this configuration."""
    command: tuple[str, ...] | None = None
    """Program and arguments of a method that runs as a process (:mod:`method.external`)."""
    method: str = f"{SCAFFOLDS[0]}+evoduet"
    """``[SCAFFOLD+]RETRIEVER``, or a method of another distribution; with ``command``, its name."""
    scaffold_options: dict[str, Any] = {}
    """Options of ``openevolve-package`` and ``evox``, see :mod:`method.scaffolds.options`."""
    retriever_options: dict[str, Any] = {}
    """Options of ``oracle``, ``joint`` and ``sequential``, see :mod:`method.retrievers.options`."""
    method_options: dict[str, Any] = {}
    """Handed to a method that proposes programs itself."""
    proposal_timeout_s: Annotated[float, Field(gt=0)] = 3600.0
    """How long such a method may think about one program."""
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
    gate_window: Annotated[int, Field(ge=1)] | Literal["task"] | None = None
    """Of the stagnation gate; by default a tenth of T, ``task``: of what the task declares."""
    gate_relative: bool = False
    """The stagnation gate measures a gain relative to the last observation."""
    rounds: Annotated[int, Field(ge=1)] = 3
    queries: Annotated[int, Field(ge=1)] = 1
    per_query: Annotated[int, Field(ge=1, le=20)] = 5
    retain: Annotated[int, Field(ge=0)] = 3
    candidates: Annotated[int, Field(ge=1)] = 8
    iterations: Annotated[int, Field(ge=0)] | None = None
    """T; by default what the task declares (100, or 20 for the simple ones)."""
    seed: int = 42
    max_attempts: Annotated[int, Field(ge=1)] | None = None
    """Attempts of one iteration; by default 3, or 6 for ``sequential``."""
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
    workers: Annotated[int, Field(ge=1)] | None = None
    """Evaluations at a time, by default 1: the same for every method, so that load biases none."""
    eval_wall_s: Annotated[float, Field(gt=0)] | Literal["task", "released"] = "task"
    """Wall clock of one evaluation: the task's own, the authors' release's, or seconds."""
    enforce_blocks: Literal["off", "revert", "reject"] = "off"

    @model_validator(mode="before")
    @classmethod
    def _own_defaults(cls, values: Any) -> Any:
        """A method that proposes programs itself has no use for what our outer loop needs."""
        if not isinstance(values, dict):
            return values
        given = dict(values)
        if given.get("command") is not None:
            given.setdefault("method", EXTERNAL)
        elif not _proposes(given.get("method", "evoduet")):
            return values
        given.setdefault("model", OWN_MODEL)
        given.setdefault("candidates", 1)
        return given

    @field_validator("command", mode="before")
    @classmethod
    def _words(cls, value: Any) -> Any:
        if value is None:
            return None
        import shlex

        words = shlex.split(value) if isinstance(value, str) else list(value)
        if not words:
            raise ValueError("names no program")
        return tuple(words)

    @field_validator("method")
    @classmethod
    def _known_method(cls, value: str, info: ValidationInfo) -> str:
        return str(parse_method(value, process=info.data.get("command") is not None))

    @field_validator("switches")
    @classmethod
    def _known_switches(cls, value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if "rules" in info.data:
            Rules.preset(info.data["rules"], value)
        return value

    @field_validator("scaffold_options")
    @classmethod
    def _known_options(cls, value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        name = _name(info)
        if name is not None and name.scaffold in SCAFFOLDS:
            check_options(name.scaffold, value)
        return value

    @field_validator("retriever_options")
    @classmethod
    def _known_retriever_options(
        cls, value: dict[str, Any], info: ValidationInfo
    ) -> dict[str, Any]:
        name = _name(info)
        if name is not None and name.retriever in RETRIEVERS:
            check_retriever_options(name.retriever, value)
        return value

    @model_validator(mode="after")
    def _replay_needs_a_cassette(self) -> RunConfig:
        if self.cassette is None and self.cassette_mode != "record":
            raise ValueError(f"{self.cassette_mode} needs a recording: give --cassette FILE")
        return self

    @model_validator(mode="after")
    def _nothing_without_effect(self) -> RunConfig:
        """An option that would be ignored is refused."""
        if not self.proposer:
            if self.method_options:
                raise ValueError(f"method_options: {self.method} has none")
            return self
        for name in _OF_THE_OUTER_LOOP:
            field = type(self).model_fields[name]
            if getattr(self, name) != (1 if name == "candidates" else field.default):
                raise ValueError(
                    f"{name}: has no effect on {self.method}, which proposes programs by itself"
                )
        return self

    @property
    def name(self) -> MethodName:
        """The method's name, read."""
        return parse_method(self.method, process=self.command is not None)

    @property
    def scaffold(self) -> str:
        """Name of the scaffold; empty for a method that proposes programs itself."""
        return self.name.scaffold

    @property
    def retriever(self) -> str:
        """Name of the retriever; empty for a method that proposes programs itself."""
        return self.name.retriever

    @property
    def proposer(self) -> bool:
        """Whether the method proposes programs itself, without our outer loop and models."""
        return bool(self.name.proposer)

    def resolved_rules(self) -> Rules:
        """The preset with the single switches."""
        return Rules.preset(self.rules, self.switches)

    def settings(self) -> RunSettings:
        """The numbers that retrievers and gates read."""
        return RunSettings(self)


_OF_THE_OUTER_LOOP = (
    "scaffold_options", "retriever_options", "search", "blocklist", "prices", "cassette", "client",
    "web", "edit", "gate", "gate_p", "gate_window", "gate_relative", "rounds", "queries",
    "per_query", "retain", "candidates", "max_attempts", "max_cost", "max_tokens", "max_searches",
    "on_outage", "sampling", "enforce_blocks",
)  # fmt: skip


def _proposes(method: Any) -> bool:
    """Whether this names such a method; what is no name at all is reported with its key."""
    try:
        return bool(parse_method(str(method)).proposer)
    except ValueError:
        return False


def _name(info: ValidationInfo) -> MethodName | None:
    """The method that was read before; ``None`` when it was refused."""
    if "method" not in info.data:
        return None
    return parse_method(info.data["method"], process=info.data.get("command") is not None)


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


def make_config(file: Path | None = None, **options: Any) -> RunConfig:
    """A configuration from a TOML or YAML file, options that are not ``None``, or both.

    Options win over the file; :mod:`method.presets` tells where presets stand. Raises
    :class:`ConfigProblem` naming the key.
    """
    place = "" if file is None else str(file)
    given = {name: value for name, value in options.items() if value is not None}
    try:
        values = layered({} if file is None else read_file(file), canonical(given))
    except ValueError as error:
        raise ConfigProblem(": ".join(part for part in (place, str(error)) if part)) from None
    return checked(values, place)


_HOW = {
    "task": "give a task's id or name (--task); `evoduet tasks` lists them",
    "model": "give PROVIDER/NAME (--model), or offline/perturb to try it without a model",
}
"""What to do about a key that must be given."""


def checked(values: Mapping[str, Any], place: str = "") -> RunConfig:
    """The configuration of these keys. Raises :class:`ConfigProblem` naming place and key."""
    try:
        return RunConfig.model_validate(dict(values))
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(str(part) for part in problem["loc"])
        text = "unknown key" if problem["type"] == "extra_forbidden" else problem["msg"]
        if problem["type"] == "missing" and key in _HOW:
            text = _HOW[key]
        text = text.removeprefix("Value error, ")
        raise ConfigProblem(": ".join(part for part in (place, key, text) if part)) from None
