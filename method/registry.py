"""Scaffolds and retrievers by name."""

from __future__ import annotations

from collections.abc import Callable

from benchmark.oracle import of_level, read_documents
from benchmark.task import Task
from method.config import RunConfig
from method.gates import make_gate
from method.protocols import Retriever, Scaffold
from method.retrievers.evoduet import EvoDuet
from method.retrievers.joint import Joint
from method.retrievers.none import NoRetriever
from method.retrievers.oracle import Oracle, given_documents
from method.scaffolds.openevolve_native import OpenEvolveNative
from method.scaffolds.solution_prompt import PromptTask
from method.scaffolds.topk import TopK


def make_scaffold(name: str, task: PromptTask) -> Scaffold:
    """A fresh scaffold of that name."""
    makers: dict[str, Callable[[PromptTask], Scaffold]] = {
        "openevolve-native": OpenEvolveNative,
        "topk": TopK,
    }
    return makers[name](task)


def make_retriever(config: RunConfig, task: Task) -> Retriever:
    """A fresh retriever. Raises ``OracleError`` when the task has no oracle documents."""
    if config.retriever == "none":
        return NoRetriever()
    if config.retriever == "oracle":
        documents = of_level(read_documents(task.name))
        return Oracle(given_documents(task.name, documents))
    if config.retriever == "joint":
        return Joint()
    if config.retriever == "evoduet":
        options = {"p": config.gate_p} if config.gate == "random" else {}
        if config.gate == "stagnation":
            options = {"window": config.gate_window}  # type: ignore[dict-item]
        return EvoDuet(make_gate(config.gate, **options))
    from method.retrievers.sequential import Sequential

    return Sequential()
