"""Price files: read strictly, frozen into manifests, and unknown is unknown."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from method.config import ConfigProblem
from method.llm.answers import Answer, read_usage
from method.llm.cost import CallCosts
from method.llm.library import load_litellm
from method.llm.pricing import ModelPrice, Prices, SearchPrice, load_prices
from method.protocols import Usage

FILE = """
[models."openrouter/qwen/qwen3.5-9b"]
input = 0.10
cached_input = 0.02
output = 0.15
[models."gpt-5.6-luna"]
input = 1
output = 2
[search.tavily]
per_credit = 0.008
"""


def prices(tmp_path: Path, text: str = FILE) -> Prices:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    return load_prices(str(path))


def test_prices_are_per_million_tokens(tmp_path: Path) -> None:
    price = prices(tmp_path).of_model("openrouter/qwen/qwen3.5-9b")
    assert price is not None
    assert price.cost(Usage(prompt=1_000_000, completion=2_000_000)) == pytest.approx(0.40)
    cached = Usage(prompt=1_000_000, completion=0, cached=500_000)
    assert price.cost(cached) == pytest.approx(0.06)
    assert price.cost(Usage(prompt=10)) is None
    assert ModelPrice(input=1, output=0).cost(cached) == pytest.approx(1.0)


def test_a_bare_name_holds_for_every_route(tmp_path: Path) -> None:
    found = prices(tmp_path)
    assert found.of_model("openai/gpt-5.6-luna") == found.models["gpt-5.6-luna"]
    assert found.of_model("gpt-5.6-luna") == found.models["gpt-5.6-luna"]
    assert found.of_model("qwen/qwen3.5-9b") is None
    assert found.of_model("gpt-5.6") is None


def test_the_papers_gateway() -> None:
    """USD per million tokens of the two routes, no discount for cached input."""
    found = load_prices("paper-gateway")
    usage = Usage(prompt=1_000_000, completion=1_000_000, cached=900_000, reasoning=700_000)
    costs = {name: price.cost(usage) for name, price in found.models.items()}
    assert costs == {
        "gpt-5.6-luna": pytest.approx(1.40),
        "gemini-3.8-flash": pytest.approx(4.50),
    }
    assert found.search == {}


def test_searches_cost_by_search_or_by_credit(tmp_path: Path) -> None:
    price = prices(tmp_path).of_search("tavily")
    assert price is not None
    assert price.cost(2.0) == pytest.approx(0.016)
    assert price.cost(None) is None
    assert SearchPrice(per_search=0.01).cost(None) == 0.01


def test_the_manifest_holds_what_a_run_uses(tmp_path: Path) -> None:
    found = prices(tmp_path).in_force("openai/gpt-5.6-luna", "tavily")
    again = Prices.model_validate(found.model_dump(mode="json"))
    assert again.of_model("openai/gpt-5.6-luna") == ModelPrice(input=1, output=2)
    assert set(again.models) == {"openai/gpt-5.6-luna"}
    assert set(again.search) == {"tavily"}
    assert prices(tmp_path).in_force("other", "offline") == Prices()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[models.a]\ninput = 1\n", "models.a.output"),
        ("[models.a]\ninput = -1\noutput = 1\n", "models.a.input"),
        ("[models.a]\ninput = nan\noutput = 1\n", "models.a.input"),
        ("[models.a]\ninput = 1\noutput = 1\nouptut = 2\n", "models.a.ouptut"),
        ("[search.tavily]\n", "either per_search or per_credit"),
        ("[serach.tavily]\nper_search = 1\n", "serach"),
        ("models = [", "not TOML"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigProblem, match=message):
        prices(tmp_path, text)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(ConfigProblem, match=r"nowhere\.toml: No such file.*paper-gateway"):
        load_prices("nowhere.toml")


def answer(reported: float | None = None) -> Answer:
    litellm = load_litellm()
    used = litellm.Usage(prompt_tokens=1000, completion_tokens=500, total_tokens=1500)
    usage = Usage(prompt=1000, completion=500)
    return Answer("", "stop", (), usage, reported, None, None, usage_object=used)


def test_litellms_table_is_the_last_word() -> None:
    litellm = load_litellm()
    known = CallCosts(litellm, "gpt-5.6-luna", None)
    assert known.priced
    assert known.of(answer()) == (pytest.approx(1000 * 2e-7 + 500 * 1.2e-6), "table")
    assert known.of(answer(0.5)) == (0.5, "provider")
    for unknown in (
        CallCosts(litellm, "openai/my-model", None),
        CallCosts(litellm, "gpt-5.6-luna", None, use_table=False),
    ):
        assert not unknown.priced
        assert unknown.of(answer()) == (None, "none")
    priced = CallCosts(litellm, "gpt-5.6-luna", ModelPrice(input=1, output=0))
    assert priced.of(answer()) == (pytest.approx(0.001), "table")


def test_frozen_prices_outlive_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    litellm = load_litellm()
    monkeypatch.setattr(litellm, "model_cost", dict(litellm.model_cost))
    row = CallCosts(litellm, "gpt-5.6-luna", None).row
    assert row is not None
    before = {**row["prices"], "input_cost_per_token": 7e-7}
    frozen = CallCosts(
        litellm, "gpt-5.6-luna", None, frozen={"table": {"key": row["key"], "prices": before}}
    )
    assert frozen.of(answer())[0] == pytest.approx(1000 * 7e-7 + 500 * 1.2e-6)
    restored = CallCosts(litellm, "gpt-5.6-luna", None, frozen={"table": row})
    assert restored.of(answer())[0] == pytest.approx(1000 * 2e-7 + 500 * 1.2e-6)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, Usage()),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage()),
        ({"prompt_tokens": 5, "completion_tokens": 0}, Usage(5, 0)),
        ({"prompt_tokens": 5, "completion_tokens": True}, Usage(5, None)),
        (
            {
                "prompt_tokens": 5,
                "completion_tokens": 6,
                "cache_creation_input_tokens": 2,
                "prompt_tokens_details": SimpleNamespace(cached_tokens=3),
                "completion_tokens_details": SimpleNamespace(reasoning_tokens=4),
            },
            Usage(5, 6, 4, 3, 2),
        ),
    ],
)
def test_usage(fields: dict[str, Any], expected: Usage) -> None:
    assert read_usage(SimpleNamespace(**fields)) == expected
