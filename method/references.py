"""Which texts beside the journal a run refers to, and what they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from method.journal import Event


@dataclass
class References:
    """Sha256 of the blobs that a journal names, in the order of their first mention.

    ``pages`` are bodies of documents as searches returned them, with the address of each.
    """

    programs: dict[str, None] = field(default_factory=dict)
    prompts: dict[str, None] = field(default_factory=dict)
    answers: dict[str, None] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)

    @property
    def all(self) -> dict[str, None]:
        """Every name once."""
        kinds = (self.programs, self.prompts, self.answers, self.pages)
        return {name: None for kind in kinds for name in kind}


def references(events: Iterable[Event]) -> References:
    """The blobs that these events name."""
    found = References()
    for event in events:
        _note(event.name, event.data, found)
    return found


def _note(name: str, data: Mapping[str, Any], found: References) -> None:
    if name == "run_started":
        found.programs.setdefault(data["x0"])
    elif name == "model_call":
        found.prompts.setdefault(data["prompt"])
        found.answers.setdefault(data["answer"]["text"])
    elif name == "search":
        for result in data["answer"]["results"]:
            for body in (result["snippet"], result["raw"]):
                if body is not None:
                    found.pages.setdefault(body, result["url"] or result["provider_id"])
    elif name == "sample" and "code" in data:
        found.programs.setdefault(data["code"])
    elif name == "evaluation":
        found.programs.setdefault(data["key"][3])
    elif name == "iteration_done":
        found.prompts.setdefault(data["prompt_sha256"])
