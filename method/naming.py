"""What ``--method`` may say: ``[SCAFFOLD+]RETRIEVER``, or a whole method of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from method.plugins import Kind, load_plugin, plugin_names

SCAFFOLDS = ("openevolve-native", "openevolve-package", "topk", "evox")
RETRIEVERS = ("none", "oracle", "joint", "sequential", "evoduet")
EXTERNAL = "external"
"""What a method is called that runs as a process, unless it is given a name."""

_LABEL = re.compile(r"[A-Za-z0-9][\w.-]*")


@dataclass(frozen=True)
class MethodName:
    """A pair, or a ``proposer``: a method that proposes programs without our outer loop."""

    scaffold: str = ""
    retriever: str = ""
    proposer: str = ""

    def __str__(self) -> str:
        return self.proposer or f"{self.scaffold}+{self.retriever}"


def parse_method(text: str, *, process: bool = False) -> MethodName:
    """Read a method's name; ``process``: it only labels an external process.

    Raises ``ValueError`` with what is known.
    """
    if process:
        if not _LABEL.fullmatch(text) or text in (*SCAFFOLDS, *RETRIEVERS):
            raise ValueError(
                f"{text!r} cannot name an external process: use letters, digits, '.', '-' and '_', "
                "and none of our own methods' names"
            )
        return MethodName(proposer=text)
    scaffold, plus, retriever = text.rpartition("+")
    if plus:
        if _is(scaffold, "scaffold") and _is(retriever, "retriever"):
            return MethodName(scaffold, retriever)
    elif _is(retriever, "retriever"):
        return MethodName(SCAFFOLDS[0], retriever)
    elif _is(retriever, "proposer"):
        return MethodName(proposer=retriever)
    elif _is(retriever, "scaffold"):
        raise ValueError(f"{text} is a scaffold: write {text}+RETRIEVER, for example {text}+none")
    installed = plugin_names()
    more = f"; installed beside them: {', '.join(installed)}" if installed else ""
    raise ValueError(
        f"unknown method {text!r}: [SCAFFOLD+]RETRIEVER with SCAFFOLD one of "
        f"{', '.join(SCAFFOLDS)} and RETRIEVER one of {', '.join(RETRIEVERS)}{more}"
    )


def _is(name: str, kind: Kind) -> bool:
    """Whether a name is of that kind; ours go before those of other distributions."""
    ours = {"scaffold": SCAFFOLDS, "retriever": RETRIEVERS}
    if any(name in names for names in ours.values()):
        return name in ours.get(kind, ())
    plugin = load_plugin(name)
    return plugin is not None and plugin.kind == kind
