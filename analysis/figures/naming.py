"""Short names of configurations for legends: what they share is left out."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.output import Value
from analysis.summaries import SETTING

Label = tuple[Value, ...]
"""Model, N, method, and for own runs settings."""


def method_names(labels: Iterable[Label]) -> dict[Label, str]:
    """Method, and of its settings those that differ among the labels with the same method."""
    known = list(dict.fromkeys(labels))
    names = {}
    for label in known:
        same = [set(_settings(other)) for other in known if other[SETTING] == label[SETTING]]
        shared = set.intersection(*same)
        differing = [word for word in _settings(label) if word not in shared]
        names[label] = " ".join((str(label[SETTING]), *differing))
    return names


def full_names(labels: Iterable[Label]) -> dict[Label, str]:
    """The same with model and N, where the labels differ in them."""
    methods = method_names(labels)
    several = [len({label[i] for label in methods}) > 1 for i in range(SETTING)]
    return {
        label: ", ".join(
            (
                name,
                *((str(label[0]),) if several[0] else ()),
                *((f"N = {label[1]}",) if several[1] else ()),
            )
        )
        for label, name in methods.items()
    }


def _settings(label: Label) -> list[str]:
    return [word for part in label[SETTING + 1 :] for word in str(part or "").split()]
