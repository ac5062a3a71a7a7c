"""Oracle documents: the sources that an ideal search would find for a task.

``oracle_docs/<task name>.md`` holds one document or several, one after the other. Each is a line
``---``, a YAML block, a line ``---`` and a body in Markdown; the line ``---`` occurs nowhere else.
:class:`OracleDocument` and :class:`Source` tell what the block holds.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    StrictBool,
    StrictInt,
    StringConstraints,
    ValidationError,
)
from pydantic.dataclasses import dataclass

from benchmark.task import TaskError

Level = Literal["direct", "inferential"]
Kind = Literal["solution", "method"]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

PACKAGE = "oracle_docs"
_SEPARATOR = "---"
_LAST_FENCE = re.compile(r"^```json\n(.*?)\n```$\s*\Z", re.MULTILINE | re.DOTALL)


class OracleError(TaskError):
    """A file of oracle documents is missing or broken; the message names file, document and key."""


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class Source:
    """Where facts of a document come from. All keys are there; ``null``: not known to us.

    ``id`` is an identifier such as ``arXiv:1403.7793``. ``verified`` is false until somebody has
    compared title and identifier with the source itself.
    """

    title: Text
    authors: Text | None
    year: StrictInt | None
    url: Annotated[str, StringConstraints(pattern=r"^https?://\S+$")] | None
    id: Text | None
    verified: StrictBool = True


@dataclasses.dataclass(frozen=True)
class OracleDocument:
    """One document as a retriever gives it.

    A ``direct`` document states the answer, an ``inferential`` one facts from which it must be
    worked out; a ``method`` document is always inferential. A direct document ends with the answer
    as a fenced JSON block, in the form in which the task's artifacts are stored. ``verified`` is
    false when the body states facts that neither a copy of the source nor a computation confirms.
    """

    title: str
    level: Level
    kind: Kind
    sources: tuple[Source, ...]
    body: str
    verified: bool = True

    @property
    def url(self) -> str:
        """The URL of the first source."""
        return self.sources[0].url or ""

    @property
    def answer(self) -> Any:
        """The JSON value that the body ends with, ``None`` where it ends with text.

        Raises ``ValueError`` for a block that is not JSON.
        """
        block = _LAST_FENCE.search(self.body)
        return json.loads(block.group(1)) if block else None


class _Head(BaseModel):
    """The YAML block."""

    model_config = ConfigDict(extra="forbid")

    title: Text
    level: Level
    kind: Kind
    sources: tuple[Source, ...]
    verified: StrictBool = True


def read_documents(
    name: str, folder: Path | Traversable | None = None
) -> tuple[OracleDocument, ...]:
    """All documents of the task ``name``, in file order.

    ``folder`` holds the files; by default those that this distribution ships. Raises
    :class:`OracleError`.
    """
    file = (folder or resources.files(PACKAGE)) / f"{name}.md"
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise OracleError(f"{file}: missing; there is no oracle document for {name}") from None
    except UnicodeDecodeError as error:
        raise OracleError(f"{file}: not UTF-8 ({error})") from None
    return tuple(
        _document(head, body, f"{file}, document {number}")
        for number, (head, body) in enumerate(_split(text, str(file)), start=1)
    )


def of_level(
    documents: Sequence[OracleDocument], level: Level | None = None
) -> tuple[OracleDocument, ...]:
    """The documents to give: those of ``level``, in file order.

    By default the direct ones, or the inferential ones where no document is direct.
    """
    if level is None:
        levels = {document.level for document in documents}
        level = "direct" if "direct" in levels else "inferential"
    return tuple(document for document in documents if document.level == level)


def _split(text: str, file: str) -> Iterator[tuple[str, str]]:
    """The YAML block and the body of each document."""
    before, *parts = _between_separators(text)
    if before.strip() or not parts or len(parts) % 2:
        raise OracleError(
            f"{file}: a document is a line {_SEPARATOR}, a YAML block, a line {_SEPARATOR} and a "
            "body; that line stands nowhere else"
        )
    yield from zip(parts[::2], parts[1::2], strict=True)


def _between_separators(text: str) -> list[str]:
    parts: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line == _SEPARATOR:
            parts.append([])
        else:
            parts[-1].append(line)
    return ["\n".join(lines) for lines in parts]


def _document(head: str, body: str, place: str) -> OracleDocument:
    import yaml  # not every command reads documents

    try:
        declared = _Head.model_validate(yaml.safe_load(head))
    except yaml.YAMLError as error:
        raise OracleError(f"{place}: the block is not YAML ({error})") from None
    except ValidationError as error:
        raise OracleError(f"{place}: {_first_problem(error)}") from None
    document = OracleDocument(
        declared.title,
        declared.level,
        declared.kind,
        declared.sources,
        body.strip("\n"),
        declared.verified,
    )
    problem = _broken_rule(document)
    if problem:
        raise OracleError(f"{place}: {problem}")
    return document


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    key = ".".join(str(part) for part in problem["loc"]) or "the block"
    if problem["type"] == "missing":
        return f"{key}: missing"
    if problem["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"{key}: unknown key"
    return f"{key}: {problem['msg']} (got {problem['input']!r})"


def _broken_rule(document: OracleDocument) -> str:
    """What the format asks of a document as a whole; empty: nothing is wrong."""
    if not document.sources or document.sources[0].url is None:
        return "sources: the first source needs a url"
    if document.kind == "method" and document.level != "inferential":
        return f"level: a method document is inferential (got {document.level!r})"
    if not document.body.strip():
        return "body: empty"
    try:
        answer = document.answer
    except ValueError as error:
        return f"body: the block at its end is not JSON ({error})"
    if document.level == "direct" and answer is None:
        return "body: a direct document ends with its answer as a fenced JSON block"
    return ""
