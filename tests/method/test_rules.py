"""The rule presets: every switch settable alone, none misspelt unnoticed."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from method.rules import PRESETS, Rules

SECTION_0 = {
    "gate.parser": ("strict", "chain"),
    "gate.malformed": ("no-op", "missing"),
    "lookup.unknown": ("keep", "missing"),
    "lookup.scope": ("database", "snapshot"),
    "query.limit": ("cut", "reject"),
    "query.wire": ("as-is", "cut"),
    "json.duplicates": ("malformed", "last"),
    "scoring.duplicates": ("drop", "first"),
    "scoring.strings": ("invalid", "numbers"),
    "scoring.complete": ("strict", "targets"),
    "dedup": ("composite", "any_key"),
    "records.empty_outcome": (False, True),
    "stats": ("released", "corrected"),
    "prompt.fields": ("raw", "fenced"),
    "search.raw_content": ("off", "text"),
    "candidate.max_chars": (60_000, "seed"),
    "placeholders": ("text", "malformed"),
}
"""The switches of methods.md section 0 with the values of official and robust."""


@pytest.mark.parametrize(("place", "name"), [(0, "official"), (1, "robust")])
def test_presets_follow_the_table(place: int, name: Any) -> None:
    manifest = Rules.preset(name).manifest()
    assert {key: manifest[key] for key in SECTION_0} == {
        key: values[place] for key, values in SECTION_0.items()
    }


def test_official_is_the_default() -> None:
    assert Rules() == Rules.preset("official")


@pytest.mark.parametrize("switch", SECTION_0)
def test_every_switch_can_be_set_alone(switch: str) -> None:
    robust = SECTION_0[switch][1]
    changed = Rules.preset("official", {switch: robust}).manifest()
    official = Rules.preset("official").manifest()
    assert {key for key in official if changed[key] != official[key]} == {switch}
    assert changed[switch] == robust


def test_a_manifest_gives_the_rules_back() -> None:
    for name in PRESETS:
        rules = Rules.preset(name)  # type: ignore[arg-type]
        assert Rules.model_validate(rules.manifest()) == rules
        assert Rules.preset("official", rules.manifest()) == rules


def test_unknown_names_and_values_are_refused() -> None:
    with pytest.raises(ValueError, match="official, robust"):
        Rules.preset("strict")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"gate\.parsr: unknown switch"):
        Rules.preset("robust", {"gate.parsr": "chain"})
    with pytest.raises(ValueError, match=r"gate\.parser"):
        Rules.preset("robust", {"gate.parser": "loose"})
    with pytest.raises(ValidationError):
        Rules().gate_parser = "chain"  # type: ignore[misc]


def test_longest_candidate() -> None:
    assert Rules.preset("official").longest_candidate("x" * 50_000) == 60_000
    assert Rules.preset("robust").longest_candidate("x" * 50_000) == 150_000
    assert Rules.preset("robust").longest_candidate("x") == 100_000
    assert Rules.preset("robust", {"candidate.max_chars": 40_000}).longest_candidate("") == 40_000
