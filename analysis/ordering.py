"""One order of domains, tasks, models and methods for all outputs, whatever the order of the input.

Domains come in the project's order, tasks by name within them, the rest by name. So shuffled input
gives the same CSV files byte for byte, and a model has the same colour in every figure.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

DOMAINS = (
    "simple_science",
    "quantum_compilation",
    "astrodynamics",
    "scientific_algorithms",
    "ai_foundations",
    "algorithm_engineering",
    "mathematics",
)
SIMPLE = DOMAINS[0]


@cache
def domain_titles() -> dict[str, str]:
    """Title of each domain of the catalogue, by folder name, in the project's order."""
    from benchmark.catalogue import catalogue

    titles = {task.domain: task.declared.domain_title for task in catalogue().values()}
    return {name: titles[name] for name in sorted(titles, key=_place)}


def _place(domain: str) -> tuple[int, str]:
    return (DOMAINS.index(domain) if domain in DOMAINS else len(DOMAINS), domain)


def domain_key(title: str) -> tuple[int, str]:
    """Sort key of a domain's title; titles that the catalogue does not know come last."""
    known = [name.casefold() for name in domain_titles().values()]
    wanted = title.casefold()
    return (known.index(wanted) if wanted in known else len(known), wanted)


def is_simple(title: str) -> bool:
    """Whether the title is that of the ten simple tasks, which have other anchors and budgets."""
    return title.casefold() == domain_titles().get(SIMPLE, "").casefold()


def model_key(model: str) -> tuple[str, str]:
    """Sort key of a model's or method's name."""
    return (model.casefold(), model)


def in_order(names: Iterable[str]) -> list[str]:
    """Different names, sorted."""
    return sorted(set(names), key=model_key)
