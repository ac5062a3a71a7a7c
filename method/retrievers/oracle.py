"""The oracle: the same given documents in every iteration (format: oracle_docs.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from method.protocols import GivenDocument, Retrieval, RunContext, Selection, Snapshot
from method.rules import BODY_LIMIT

Level = Literal["direct", "inferential"]


class Oracle:
    """Gives the same documents every time, N candidates, no calls."""

    name = "oracle"

    def __init__(self, documents: Sequence[GivenDocument]) -> None:
        self._documents = tuple(
            replace(document, doc_id=f"r{number:07d}", first_retrieved_t=0)
            for number, document in enumerate(documents, start=1)
        )

    async def retrieve(
        self, selection: Selection, snapshot: Snapshot, run: RunContext
    ) -> Retrieval:
        """All documents in file order."""
        return Retrieval(None, self._documents, run.settings.candidates)


class _Source(BaseModel):
    model_config = ConfigDict(extra="ignore")

    title: str
    authors: str | list[str] | None = None
    year: int | str | None = None
    url: str | None = None
    id: str | int | float | None = None


class OracleHead(BaseModel):
    """The YAML block of one oracle document."""

    model_config = ConfigDict(extra="ignore")

    title: str
    level: Level
    kind: Literal["solution", "method"]
    sources: list[_Source] = Field(min_length=1)

    @property
    def url(self) -> str:
        """URL of the first source."""
        return self.sources[0].url or ""


def read_oracle(text: str, name: str) -> list[tuple[OracleHead, str]]:
    """The documents of one file: head and body each.

    A file is split at the lines that are exactly ``---``. Raises ``ValueError`` with the file's
    ``name`` for anything that is not in the format.
    """
    import yaml  # only this reader needs it

    parts = _split(text)
    if len(parts) < 3 or len(parts) % 2 == 0 or parts[0].strip():
        raise ValueError(f"{name}: documents must be '---', YAML, '---', body, one after the other")
    documents = []
    for head, body in zip(parts[1::2], parts[2::2], strict=True):
        try:
            content: Any = yaml.safe_load(head)
            documents.append((OracleHead.model_validate(content), body.strip()))
        except (yaml.YAMLError, ValidationError) as error:
            raise ValueError(f"{name}: document {len(documents) + 1}: {error}") from error
        if not documents[-1][0].url:
            raise ValueError(f"{name}: document {len(documents)}: its first source has no url")
    return documents


def _split(text: str) -> list[str]:
    parts: list[list[str]] = [[]]
    for line in text.replace("\r\n", "\n").split("\n"):
        if line == "---":
            parts.append([])
        else:
            parts[-1].append(line)
    return ["\n".join(part) for part in parts]


def oracle_documents(text: str, name: str, level: Level | None = None) -> list[GivenDocument]:
    """The documents of one level as they are given, in file order.

    Args:
        text: content of ``oracle_docs/<name>.md``.
        name: the task's name, for ids and messages.
        level: by default ``direct``, or ``inferential`` where there is no direct document.

    Raises ``ValueError`` for a file that is not in the format or has no document of the level.
    """
    documents = read_oracle(text, name)
    if level is None:
        levels: Mapping[Level, None] = dict.fromkeys(head.level for head, _ in documents)
        level = "direct" if "direct" in levels else "inferential"
    chosen = [(head, body) for head, body in documents if head.level == level]
    if not chosen:
        raise ValueError(f"{name}: no document of level {level}")
    return [
        GivenDocument(
            title=head.title,
            url=head.url,
            provider_id=f"oracle:{name}:{number}",
            snippet=body[:BODY_LIMIT],
            raw=None,
        )
        for number, (head, body) in enumerate(chosen, start=1)
    ]
