"""The reader of oracle documents and the command that prints them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from benchmark.commands.options import UsageProblem
from benchmark.commands.oracle import oracle
from benchmark.oracle import of_level, read_documents
from benchmark.task import TaskError

GOOD = """\
---
title: A title
level: inferential
kind: method
sources:
  - {title: A, authors: null, year: 2020, url: "https://a.example", id: null}
---
A body.
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("---\ntitle", "title", "a document is a line ---"),
        ("A body.", "A body.\n---\nmore", "a document is a line ---"),
        ("A body.", "", "body: empty"),
        ("title: A title\n", "", "title: missing"),
        ("A title", "A title\nauthor: B", "author: unknown key"),
        ("A title", "[A", "not YAML"),
        ("inferential", "certain", "level: "),
        ("kind: method", "kind: program", "kind: "),
        ("level: inferential", "level: direct", "level: a method document is inferential"),
        ("method", "method\nverified: perhaps", "verified: "),
        (', url: "https://a.example"', "", "sources.0.url: missing"),
        ('"https://a.example"', "null", "sources: the first source needs a url"),
        ("2020", "'2020'", "sources.0.year: "),
        ("id: null", "id: 1403.7793", "sources.0.id: "),
        ("id: null", "id: null, doi: x", "sources.0.doi: unknown key"),
    ],
)
def test_a_broken_file_is_named_with_its_key(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    assert GOOD.count(old) >= 1
    (tmp_path / "x.md").write_text(GOOD.replace(old, new, 1))
    with pytest.raises(TaskError, match=re.escape(message)) as caught:
        read_documents("x", tmp_path)
    assert str(tmp_path / "x.md") in str(caught.value)


@pytest.mark.parametrize("end", ["", "\n```json\n[1, 2\n```", "\n```json\n[1]\n```\nMore text."])
def test_a_direct_document_must_end_with_its_answer(end: str, tmp_path: Path) -> None:
    text = GOOD.replace("inferential", "direct").replace("method", "solution")
    (tmp_path / "x.md").write_text(text + end)
    with pytest.raises(TaskError, match="document 1: body: "):
        read_documents("x", tmp_path)


def test_several_documents_keep_their_order(tmp_path: Path) -> None:
    solution = GOOD.replace("inferential", "direct").replace("method", "solution")
    (tmp_path / "x.md").write_text(
        GOOD + solution + '```json\n{"a": [1]}\n```\n' + GOOD.replace("A title", "Third")
    )
    documents = read_documents("x", tmp_path)
    assert [document.title for document in documents] == ["A title", "A title", "Third"]
    assert documents[1].answer == {"a": [1]}
    assert documents[1].body == 'A body.\n```json\n{"a": [1]}\n```'
    assert of_level(documents) == documents[1:2]
    assert of_level(documents, "inferential") == (documents[0], documents[2])


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"nothing\.md: missing"):
        read_documents("nothing", tmp_path)


def run_command(*arguments: str) -> Any:
    app = typer.Typer()
    app.command()(oracle)
    return CliRunner().invoke(app, list(arguments))


def test_the_command_prints_what_a_model_gets() -> None:
    (document,) = of_level(read_documents("lj_13"))
    answer = run_command("lj_13")
    assert answer.exit_code == 0
    assert document.title in answer.output
    assert document.body in answer.output
    shown = json.loads(run_command("erdos", "--json").output)
    assert (shown["task"], shown["level"]) == ("mathematics/erdos", "inferential")
    (row,) = shown["documents"]
    assert row["body"] == read_documents("erdos")[0].body
    assert row["verified"] is False
    assert row["url"] == row["sources"][0]["url"]
    assert "[not compared with the source]" in run_command("erdos").output


def test_the_command_chooses_the_level() -> None:
    twin = run_command("simple_science/lj_13", "--level", "inferential")
    assert "magic number" in twin.output
    assert "```" not in twin.output
    lacking = run_command("batch_reactor", "--level", "direct")
    assert isinstance(lacking.exception, UsageProblem)
    assert "inferential documents only" in str(lacking.exception)
    assert isinstance(run_command("lj_13", "--level", "hint").exception, UsageProblem)
