"""Scaffolds, retrievers and sources of proposals by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmark.catalogue import find_task
from benchmark.oracle import of_level, read_documents
from benchmark.task import Task
from method.config import ConfigProblem, MissingProblem, RunConfig
from method.external import ProcessSource, check_command
from method.gates import make_gate
from method.inprocess import ClassSource
from method.naming import RETRIEVERS
from method.plugins import Given, PluginProblem, load_plugin
from method.protocols import Retriever, Scaffold
from method.retrievers.evoduet import EvoDuet
from method.retrievers.joint import Joint
from method.retrievers.none import NoRetriever
from method.retrievers.options import (
    JointOptions,
    OracleOptions,
    SequentialOptions,
    check_retriever_options,
)
from method.retrievers.oracle import Oracle, given_documents
from method.retrievers.sequential import Sequential
from method.scaffolds.evox import EvoX, EvoXSettings
from method.scaffolds.openevolve_native import OpenEvolveNative
from method.scaffolds.openevolve_package import OpenEvolvePackage
from method.scaffolds.options import EvoXOptions, OpenEvolveOptions, check_options
from method.scaffolds.packages import PackageProblem, require_package
from method.scaffolds.solution_prompt import PromptTask
from method.scaffolds.topk import TopK
from method.sources import Source


def prompt_task(config: RunConfig, task: Task) -> PromptTask:
    """What prompts say about a task in this run."""
    wall_s = config.eval_wall_s
    return PromptTask(
        instructions=task.instructions,
        language=task.declared.language,
        edit=config.edit,
        time_limit_s=task.declared.limits.wall_s if isinstance(wall_s, str) else wall_s,
        dedup_history=config.resolved_rules().dedup_history,
    )


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
    if config.scaffold not in makers:
        scaffold: Scaffold = _plugged_in(config, config.scaffold, task, config.scaffold_options)
        if not hasattr(scaffold, "counts_attempts"):
            scaffold.counts_attempts = False
        return scaffold
    try:
        return makers[config.scaffold](config, task)
    except PackageProblem as problem:
        raise MissingProblem(f"--method {config.method}: {problem}") from None


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
    """A fresh retriever.

    Raises ``OracleError`` when the task has no oracle documents, and :class:`ConfigProblem` when
    the package is missing that renders its statistics.
    """
    if config.resolved_rules().render == "evox":
        try:
            require_package("skydiscover", "0.1.0")
        except PackageProblem as problem:
            raise MissingProblem(f"render: {problem}") from None
    if config.retriever == "none":
        return NoRetriever()
    if config.retriever == "evoduet":
        return EvoDuet(make_gate(config.gate, **_gate_options(config)))
    if config.retriever not in RETRIEVERS:
        prompt = prompt_task(config, task)
        given = config.retriever_options
        retriever: Retriever = _plugged_in(config, config.retriever, prompt, given)
        return retriever
    options = check_retriever_options(config.retriever, config.retriever_options)
    if isinstance(options, OracleOptions):
        documents = of_level(read_documents(task.name), options.level)
        if not documents:
            raise ConfigProblem(f"{task.id} has no oracle document of level {options.level}")
        return Oracle(given_documents(task.name, documents))
    if isinstance(options, JointOptions):
        return Joint(force_first=options.force_first)
    assert isinstance(options, SequentialOptions)
    return Sequential(options.max_reflect)


def _gate_options(config: RunConfig) -> dict[str, Any]:
    if config.gate == "random":
        return {"p": config.gate_p}
    if config.gate == "stagnation":
        assert config.gate_window != "task"
        return {"window": config.gate_window, "relative": config.gate_relative}
    return {}


def make_source(config: RunConfig, task: Task, folder: Path) -> Source:
    """What proposes programs in a run of such a method; logs go to ``folder``.

    Raises :class:`ConfigProblem`.
    """
    if config.command is not None:
        check_command(config.command)
        return ProcessSource(config.method, config.command, folder)
    prompt = prompt_task(config, task)
    return ClassSource(
        config.method, _plugged_in(config, config.method, prompt, config.method_options), folder
    )


def _plugged_in(config: RunConfig, name: str, prompt: PromptTask, options: dict[str, Any]) -> Any:
    """An object of a class of another distribution."""
    run = config.settings()
    given = Given(
        find_task(config.task), prompt, config.seed, run.iterations, config.model, options
    )
    try:
        plugin = load_plugin(name)
        if plugin is None:
            raise ConfigProblem(f"--method {config.method}: {name} is not installed here")
        return plugin.make(given)
    except PluginProblem as problem:
        raise MissingProblem(f"--method {config.method}: {problem}") from None
