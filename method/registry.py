"""Scaffolds and retrievers by name."""

from __future__ import annotations

from collections.abc import Callable

from benchmark.oracle import of_level, read_documents
from benchmark.task import Task
from method.config import ConfigProblem, RunConfig
from method.gates import make_gate
from method.protocols import Retriever, Scaffold
from method.retrievers.evoduet import EvoDuet
from method.retrievers.joint import Joint
from method.retrievers.none import NoRetriever
from method.retrievers.oracle import Oracle, given_documents
from method.scaffolds.evox import EvoX, EvoXSettings
from method.scaffolds.openevolve_native import OpenEvolveNative
from method.scaffolds.openevolve_package import OpenEvolvePackage
from method.scaffolds.options import EvoXOptions, OpenEvolveOptions, check_options
from method.scaffolds.packages import PackageProblem, require_package
from method.scaffolds.solution_prompt import PromptTask
from method.scaffolds.topk import TopK


def make_scaffold(config: RunConfig, task: PromptTask) -> Scaffold:
    """A fresh scaffold.

    Raises :class:`ConfigProblem` when its package, or the version it was written for, is missing.
    """
    makers: dict[str, Callable[[RunConfig, PromptTask], Scaffold]] = {
        "openevolve-native": lambda config, task: OpenEvolveNative(task),
        "openevolve-package": _openevolve_package,
        "topk": lambda config, task: TopK(task),
        "evox": _evox,
    }
    try:
        return makers[config.scaffold](config, task)
    except PackageProblem as problem:
        raise ConfigProblem(f"--method {config.method}: {problem}") from None


def _openevolve_package(config: RunConfig, task: PromptTask) -> Scaffold:
    require_package("openevolve", "0.4.")
    options = check_options(config.scaffold, config.scaffold_options)
    assert isinstance(options, OpenEvolveOptions)
    return OpenEvolvePackage(task, options)


def _evox(config: RunConfig, task: PromptTask) -> Scaffold:
    require_package("skydiscover", "0.1.0")
    options = check_options(config.scaffold, config.scaffold_options)
    assert isinstance(options, EvoXOptions)
    run = config.settings()
    return EvoX(task, EvoXSettings(run.iterations, run.sampling, options, config.isolation))


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
