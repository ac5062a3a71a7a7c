"""Where a configuration's keys come from: a TOML or YAML file, ``KEY=VALUE`` texts, other names."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ALIASES: Mapping[str, str] = {
    "R": "rounds",
    "J": "queries",
    "M": "per_query",
    "D": "retain",
    "N": "candidates",
    "T": "iterations",
    "inner_rounds": "rounds",
    "query_count": "queries",
    "documents_per_query": "per_query",
    "search_top_k": "retain",
    "num_generations": "candidates",
}
"""The paper's letters and the names of the authors' command line."""


def read_file(file: Path) -> dict[str, Any]:
    """The keys of a file, aliases replaced. Raises ``ValueError`` naming the key."""
    return canonical(read_table(file))


def read_table(file: Path) -> dict[str, Any]:
    """The keys of a YAML (by its suffix) or TOML file. Raises ``ValueError``."""
    text = file.read_text(encoding="utf-8", errors="surrogateescape")
    if file.suffix in (".yaml", ".yml"):
        import yaml

        try:
            content = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ValueError(f"not YAML ({' '.join(str(error).split())})") from None
    else:
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"not TOML ({error})") from None
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise ValueError("must hold keys and values")
    return content


def canonical(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same keys by our own names. Raises ``ValueError`` when one is given twice."""
    found: dict[str, Any] = {}
    spelled: dict[str, str] = {}
    for key, value in values.items():
        name = ALIASES.get(key, key)
        if name in found:
            raise ValueError(f"{key}: given twice, {spelled[name]} is the same")
        found[name], spelled[name] = value, key
    return found


def assignments(texts: Iterable[str]) -> dict[str, Any]:
    """``KEY=VALUE`` texts as the keys of a file: dots go into tables, values are TOML or a text.

    >>> assignments(["sampling.temperature=0.2", "on_outage=continue"])
    {'sampling': {'temperature': 0.2}, 'on_outage': 'continue'}
    """
    values: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        names = key.strip().split(".")
        if not equals or not all(names):
            raise ValueError(f"{text}: write it as KEY=VALUE")
        names[0] = ALIASES.get(names[0], names[0])
        if names[0] == "switches" and len(names) > 1:  # names of switches have dots of their own
            names = [names[0], ".".join(names[1:])]
        table = values
        for name in names[:-1]:
            table = table.setdefault(name, {})
            if not isinstance(table, dict):
                raise ValueError(f"{text}: {name} is given twice")
        if names[-1] in table:
            raise ValueError(f"{key}: given twice")
        table[names[-1]] = _value(value.strip())
    return values


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return text
