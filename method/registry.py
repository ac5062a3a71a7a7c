"""Scaffolds and retrievers by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources

from benchmark.task import Task
from method.config import ConfigProblem, RunConfig
from method.gates import make_gate
from method.protocols import Retriever, Scaffold
from method.retrievers.evoduet import EvoDuet
from method.retrievers.joint import Joint
from method.retrievers.none import NoRetriever
from method.retrievers.oracle import Oracle, oracle_documents
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
    """A fresh retriever. Raises :class:`ConfigProblem` when the task has no oracle documents."""
    if config.retriever == "none":
        return NoRetriever()
    if config.retriever == "oracle":
        file = resources.files("oracle_docs").joinpath(f"{task.name}.md")
        if not file.is_file():
            raise ConfigProblem(f"--method oracle: there is no oracle document for {task.id}")
        return Oracle(oracle_documents(file.read_text(encoding="utf-8"), task.name))
    if config.retriever == "joint":
        return Joint()
    if config.retriever == "evoduet":
        options = {"p": config.gate_p} if config.gate == "random" else {}
        if config.gate == "stagnation":
            options = {"window": config.gate_window}  # type: ignore[dict-item]
        return EvoDuet(make_gate(config.gate, **options))
    from method.retrievers.sequential import Sequential

    return Sequential()
