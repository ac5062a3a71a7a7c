"""Text of pages is found wherever it was put, and nothing else is touched."""

from __future__ import annotations

import hashlib
import json
import random
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from method.redaction import SHORTEST, Pages


def words(count: int, seed: int) -> str:
    draw = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz"
    return " ".join("".join(draw.choices(letters, k=6)) for _ in range(count))


PAGE = words(2000, 1)
OURS = words(200, 2)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 13_000), st.integers(0, 900), st.integers(0, 200))
def test_a_stretch_of_a_page_goes_and_the_rest_stays(start: int, size: int, cut: int) -> None:
    quoted = PAGE[start : start + size]
    text = f"{OURS[:cut]}<{quoted}>{OURS[cut:]}"
    shown, left_out = Pages([PAGE]).redact(text)
    if len(quoted) < SHORTEST:
        assert (shown, left_out) == (text, 0)
        return
    assert left_out == len(quoted)
    sha256 = hashlib.sha256(quoted.encode()).hexdigest()
    mark = f"[page text left out: {len(quoted)} characters, sha256 {sha256}]"
    assert shown == f"{OURS[:cut]}<{mark}>{OURS[cut:]}"


def test_no_long_stretch_of_any_page_is_left() -> None:
    pages = [words(300, seed) for seed in range(5)]
    draw = random.Random(3)
    parts = []
    for _ in range(40):
        page = draw.choice(pages)
        start = draw.randrange(len(page))
        parts += [page[start : start + draw.randrange(400)], draw.choice(["", " | ", OURS[:30]])]
    shown, _ = Pages(pages).redact("".join(parts))
    left = re.sub(r"\[page text left out: \d+ characters, sha256 \w+\]", "\0", shown)
    for page in pages:
        for start in range(len(page) - 2 * SHORTEST):
            assert page[start : start + 2 * SHORTEST] not in left


def test_prompts_are_redacted_string_by_string() -> None:
    tool = json.dumps({"title": "t", "snippet": PAGE[40:400] + '\n"end"'})
    messages = [
        {"role": "system", "content": OURS},
        {"role": "user", "content": f"# Documents\n{PAGE[:900]}\n```\ncode\n```"},
        {"role": "tool", "content": tool, "tool_call_id": "1"},
    ]
    shown, left_out = Pages([PAGE]).redact_prompt(json.dumps(messages, ensure_ascii=False))
    read = json.loads(shown)
    assert left_out == 900 + 360
    assert read[0] == messages[0]
    assert read[1]["content"].startswith("# Documents\n[page text left out: 900 ")
    assert read[1]["content"].endswith("]\n```\ncode\n```")
    assert json.loads(read[2]["content"])["title"] == "t"
    assert PAGE[100:140] not in shown


def test_pages_as_prompts_show_them() -> None:
    page = f"{words(20, 5)}\n```\n{words(20, 6)}\n```\n{words(20, 7)}"
    fenced = page.replace("```", "~~~")
    shown, _ = Pages([page]).redact(f"a{fenced}b")
    assert re.sub(r"\[page text left out: [^]]*\]", "", shown) == "a~~~~~~b"


def test_what_quotes_nothing_is_kept_byte_for_byte() -> None:
    prompt = json.dumps([{"role": "user", "content": OURS}]) + " "
    assert Pages([PAGE]).redact_prompt(prompt) == (prompt, 0)
    assert Pages([]).redact(PAGE) == (PAGE, 0)
    assert Pages(["", "short"]).redact("short") == ("short", 0)
