"""Candidates from answers: beyond the parity vectors, blocks, limits, editable regions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from method.parsing.candidates import parse_candidate
from method.parsing.diffs import apply_blocks, read_blocks
from method.parsing.fences import fenced_blocks
from method.protocols import ParsedCandidate

PARENT = """\
import math
# EVOLVE-BLOCK-START
def f(x):
    return x
# EVOLVE-BLOCK-END
print(f(1))
"""


def edit(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


def parse(
    text: str, edit: Any = "diff", max_chars: int = 10_000, enforce: Any = "off"
) -> ParsedCandidate:
    return parse_candidate(text, PARENT, "python", edit, max_chars, enforce)


def test_each_block_has_a_status() -> None:
    text = (
        edit("    return x", "    return x + 1")
        + edit("nowhere", "y")
        + edit("", "y")
        + "<<<<<<< SEARCH\nimport math\n<<<<<<< SEARCH\nimport math\n=======\nimport re\n"
        + ">>>>>>> REPLACE\n"
    )
    parsed = parse(f"Here:\n```python\n{text}```\n")
    assert parsed.blocks == ("applied", "not_found", "empty_search", "malformed", "applied")
    assert parsed.status == "ok"
    assert parsed.flags == ("partly_applied",)
    assert parsed.code == PARENT.replace("return x", "return x + 1").replace("math", "re")
    assert "Change 1: 'return x' became 'return x + 1'" in parsed.changes


def test_later_blocks_see_earlier_edits() -> None:
    parsed = parse(edit("import math", "import re") + edit("import re", "import os"))
    assert parsed.code == PARENT.replace("math", "os")


def test_parent_with_windows_line_ends() -> None:
    parsed = parse_candidate(edit("b = 2", "b = 3"), "a = 1\r\nb = 2\r\n", "python", "diff", 100)
    assert parsed.code == "a = 1\nb = 3\n"


def test_blanks_at_line_ends_do_not_count() -> None:
    parsed = parse(edit("def f(x):  \n    return x\t", "def f(x):\n    return -x"))
    assert parsed.code == PARENT.replace("return x", "return -x")
    spaced = PARENT.replace("def f(x):", "def f(x):   ")
    again = parse_candidate(edit("def f(x):\n    return x", "F = 1"), spaced, "python", "diff", 999)
    assert again.code == PARENT.replace("def f(x):\n    return x", "F = 1")


def test_missing_blanks_in_markers() -> None:
    parsed = parse("<<<<<<<SEARCH\nimport math\n=======\nimport re\n>>>>>>>REPLACE")
    assert parsed.code == PARENT.replace("math", "re")


def test_errors_say_what_is_wrong() -> None:
    assert "no SEARCH/REPLACE block" in parse("```python\nx = 1\n```").error
    assert "not in the program" in parse(edit("nowhere", "y")).error
    assert (
        "2 separator lines" in parse("<<<<<<< SEARCH\na\n=======\n=======\n>>>>>>> REPLACE").error
    )
    assert "REPLACE marker is missing" in parse("<<<<<<< SEARCH\na\n=======\nb").error
    assert "no complete code block" in parse("x = 1", "full").error
    assert "markers" in parse(f"```python\n{edit('a', 'b')}```", "full").error


def test_no_change_and_too_long() -> None:
    assert parse(edit("import math", "import math")).status == "no_change"
    assert parse(f"```python\n{PARENT}```", "full").status == "no_change"
    assert parse(edit("import math", "x" * 500), max_chars=100).status == "too_long"
    assert parse(edit("import math", "x" * 500), max_chars=100).code is None


def test_edits_outside_the_block() -> None:
    outside = edit("print(f(1))", "print(f(2))")
    both = outside + edit("    return x", "    return -x")
    lost = edit("# EVOLVE-BLOCK-END", "")
    assert parse(both).code == PARENT.replace("f(1)", "f(2)").replace("return x", "return -x")
    reverted = parse(both, enforce="revert")
    assert reverted.code == PARENT.replace("return x", "return -x")
    assert "reverted_outside_block" in reverted.flags
    assert parse(outside, enforce="revert").status == "no_change"
    assert parse(both, enforce="reject").status == "parse_error"
    assert parse(edit("    return x", "    return -x"), enforce="reject").status == "ok"
    for policy in ("revert", "reject"):
        assert "markers" in parse(lost, enforce=policy).error


def test_a_rewrite_need_not_end_with_a_newline() -> None:
    changed = PARENT.replace("return x", "return 2 * x").rstrip("\n")
    parsed = parse(f"```python\n{changed}\n```", "full", enforce="reject")
    assert parsed.code == changed


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```Python\na = 1\n```", "a = 1"),
        ("```python title=x\na = 1\n```", "a = 1"),
        ("  ```python\n  a = 1\n    b\n  ```", "a = 1\n  b"),
        ("```bash\nls\n```\n```\na = 1\n```", "a = 1"),
        ("```\na\n```\n```\nb\n```", None),
        ("```python\n\n```", None),
        (
            "```python\ns = '''\n    ```\n    x\n    ```\n'''\n```",
            "s = '''\n    ```\n    x\n    ```\n'''",
        ),
    ],
)
def test_fences(text: str, code: str | None) -> None:
    parsed = parse_candidate(text, "", "python", "full", 1000)
    assert parsed.code == code


lines = st.lists(
    st.sampled_from(["a", "b  ", "  c", "", "=======", "<<<<<<< SEARCH", "d"]), max_size=8
)


@given(lines, lines, lines)
def test_any_answer_is_read(source: list[str], search: list[str], replace: list[str]) -> None:
    answer = edit("\n".join(search), "\n".join(replace))
    blocks = read_blocks(answer)
    edited = apply_blocks("\n".join(source), blocks)
    assert len(edited.statuses) == len(blocks)
    if "applied" not in edited.statuses:
        assert edited.text == "\n".join(source)
    fenced_blocks(answer)
