"""The switches between the released behaviour and our hardening (methods.md section 0).

``official`` reproduces the authors' release and is the default; ``robust`` is ours. A run records
every switch, not only the name of its preset, and each switch can be set alone::

    Rules.preset("official", {"gate.parser": "chain"})
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Preset = Literal["official", "robust"]

QUERY_LIMIT = 500
"""Characters of a query's text."""

WIRE_LIMIT = 400
"""Characters of a query that Tavily accepts."""

BODY_LIMIT = 10_000
"""Characters of one document's body in any prompt."""

KNOWLEDGE_LIMIT = 32_768
"""Characters kept of the first knowledge state and of the population analysis."""


def _dotted(field: str) -> str:
    """``gate_parser`` is written ``gate.parser`` in files, manifests and on the command line."""
    group, _, rest = field.partition("_")
    return f"{group}.{rest}" if group in _GROUPS else field


_GROUPS = frozenset(
    {"candidate", "eval", "gate", "json", "lookup"}
    | {"prompt", "query", "records", "scoring", "search"}
)


class Rules(BaseModel):
    """All switches; the defaults are the preset ``official``. Unknown switches are refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=_dotted, populate_by_name=True
    )

    gate_parser: Literal["strict", "chain"] = "strict"
    """Whole answer is one JSON object, or the chain of 2.6 and more spellings."""
    gate_malformed: Literal["no-op", "missing"] = "no-op"
    lookup_unknown: Literal["keep", "missing"] = "keep"
    """What a look-up becomes when none of its ids is known."""
    lookup_scope: Literal["database", "snapshot"] = "database"
    query_limit: Literal["cut", "reject"] = "cut"
    """Texts over the limit are cut (and keywords replace an empty query), or malformed."""
    query_wire: Literal["as-is", "cut"] = "as-is"
    json_parser: Literal["strict", "chain"] = "strict"
    """The parser of query and scoring answers."""
    json_duplicates: Literal["malformed", "last"] = "malformed"
    json_mode: Literal["off", "object", "schema"] = "off"
    """What is asked of models that can be held to a format; the paper only asks in words."""
    scoring_duplicates: Literal["drop", "first"] = "drop"
    scoring_strings: Literal["invalid", "numbers"] = "invalid"
    scoring_complete: Literal["strict", "targets"] = "strict"
    """A surplus row makes an answer partial, or only a missing target does."""
    dedup: Literal["composite", "any_key"] = "composite"
    records_empty_outcome: bool = False
    """Whether a record without documents receives its child's score."""
    stats: Literal["released", "corrected"] = "released"
    render: Literal["json", "evox"] = "json"
    """How the statistics are written: the released payload, or EvoX's text (for comparisons)."""
    prompt_fields: Literal["raw", "fenced"] = "raw"
    dedup_history: bool = False
    search_raw_content: Literal["off", "text", "markdown"] = "off"
    eval_parallel: Literal["equal", "as-released"] = "equal"
    candidate_max_chars: int | Literal["seed"] = Field(default=60_000)
    """Longest candidate in characters; ``seed``: three initial programs, at least 100000."""
    placeholders: Literal["text", "malformed"] = "text"
    snapshot_dedup: bool = False
    """A body that a newer experience of the snapshot shows is replaced by a reference."""
    snapshot_outcomes: bool = False
    """Experiences also tell whether the attempt gave a valid child."""
    context_budget_chars: int | None = Field(default=None, gt=0)
    """Longest search database and longest document section of a prompt (A17)."""
    reask: int = Field(default=0, ge=0, le=1)
    """How often a malformed gate, query or scoring answer is asked for again."""

    @classmethod
    def preset(cls, name: Preset, switches: Mapping[str, Any] | None = None) -> Rules:
        """A preset with single switches changed (dotted or Python names).

        Raises ``ValueError`` for an unknown preset or switch, or a value a switch does not have.
        """
        if name not in PRESETS:
            raise ValueError(f"unknown rules {name!r}; choose one of {', '.join(PRESETS)}")
        chosen = {**PRESETS[name], **(switches or {})}
        dotted = {_dotted(k) if k in cls.model_fields else k: v for k, v in chosen.items()}
        try:
            return cls.model_validate(dotted)
        except ValidationError as error:
            problem = error.errors()[0]
            switch = ".".join(str(part) for part in problem["loc"])
            if problem["type"] == "extra_forbidden":
                known = ", ".join(map(_dotted, cls.model_fields))
                raise ValueError(f"{switch}: unknown switch (known: {known})") from None
            raise ValueError(f"{switch}: {problem['msg']}") from None

    def manifest(self) -> dict[str, Any]:
        """Every switch under its dotted name."""
        return self.model_dump(mode="json", by_alias=True)

    def longest_candidate(self, seed: str) -> int:
        """Characters that a candidate may have in a run that starts from ``seed``."""
        if self.candidate_max_chars == "seed":
            return max(100_000, 3 * len(seed))
        return self.candidate_max_chars


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "official": {},
    "robust": {
        "gate_parser": "chain",
        "gate_malformed": "missing",
        "lookup_unknown": "missing",
        "lookup_scope": "snapshot",
        "query_limit": "reject",
        "query_wire": "cut",
        "json_parser": "chain",
        "json_duplicates": "last",
        "scoring_duplicates": "first",
        "scoring_strings": "numbers",
        "scoring_complete": "targets",
        "dedup": "any_key",
        "records_empty_outcome": True,
        "stats": "corrected",
        "prompt_fields": "fenced",
        "dedup_history": True,
        "search_raw_content": "text",
        "candidate_max_chars": "seed",
        "placeholders": "malformed",
        "snapshot_dedup": True,
        "snapshot_outcomes": True,
    },
}
