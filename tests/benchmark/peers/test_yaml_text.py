"""What is written as YAML reads back the same, in the parser that those systems use."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmark.peers.yaml_text import to_yaml

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed (pip install openevolve)")

WORDS = st.from_regex(r"[a-z][a-z_0-9]{1,8}", fullmatch=True).filter(
    lambda word: word not in {"yes", "no", "on", "off", "true", "false", "null"}
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
LINES = st.lists(st.text(st.sampled_from("ab #:-'\"\\{$}\t|>%&*!éß漢😀")), max_size=6).map(
    "\n".join
)
SCALARS = TEXTS | LINES | st.booleans() | st.integers()
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
VALUES = SCALARS | st.lists(SCALARS, max_size=3)


@UNHURRIED
@given(st.dictionaries(WORDS, VALUES | st.dictionaries(WORDS, VALUES, min_size=1), min_size=1))
def test_it_reads_back_the_same(content: dict[str, Any]) -> None:
    assert yaml.safe_load(to_yaml(content)) == content


@UNHURRIED
@given(LINES)
def test_no_variable_of_skydiscover_is_left_to_expand(text: str) -> None:
    written = to_yaml({"text": text + "${HOME}"})
    assert not re.search(r"\$\{\w+\}", written)
    assert yaml.safe_load(written) == {"text": text + "${HOME}"}


def test_long_texts_stay_readable() -> None:
    text = "# Title\n\n  indented: yes\n\t- tab\nlast\n"
    assert to_yaml({"a": {"text": text}}) == (
        "a:\n  text: |2\n    # Title\n\n      indented: yes\n    \t- tab\n    last\n"
    )


def test_a_time_stays_a_text() -> None:
    assert yaml.safe_load(to_yaml({"time": "00:10:50", "t": 0.7})) == {"time": "00:10:50", "t": 0.7}
