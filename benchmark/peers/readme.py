"""The README of an adapted folder: what it is, how to run it, what is scored."""

from __future__ import annotations

from benchmark.peers.system import System, reference
from benchmark.task import Task


def readme(task: Task, system: System) -> str:
    """Markdown for the person who starts the run."""
    paragraphs = [
        f"# {task.declared.title}, for {system.title}",
        _what(task, system),
        "## Run",
        *([] if system.command is None else [_command(system.command(task))]),
        *system.notes(task),
        "## What is scored",
        *_scoring(task, system),
    ]
    return "\n\n".join(paragraphs) + "\n"


def _what(task: Task, system: System) -> str:
    goal = {"min": "minimise", "max": "maximise"}[task.declared.direction]
    files = [system.initial_name(task), "instruction.md", *system.files(task)]
    return (
        f"The task `{task.id}` of EvoDuet bench as {system.title} reads it; reporting metric:"
        f" {task.declared.reporting_metric} ({goal}). Files: {', '.join(f'`{f}`' for f in files)}."
    )


def _command(command: str) -> str:
    return f"In this folder:\n\n```\n{command}\n```"


def _scoring(task: Task, system: System) -> list[str]:
    return [
        "`combined_score` is the task's search score, higher is better. A program that breaks a"
        " rule, crashes or runs too long has `validity` 0.0, the reason as text, and the score"
        " that the task reserves for failures (0.0 where it names no other).",
        "EvoDuet bench runs every program in a sandbox of its own and ends it, with all processes"
        f" that it started, after {task.declared.limits.wall_s:g} s. The time limit given to"
        f" {system.title} is longer, so that this one decides. Other limits are keyword arguments"
        " of the call in the evaluator file, such as `wall_s=60` or `memory_mb=4096`; with a longer"
        f" `wall_s`, lengthen the limit of {system.title} as well.",
        "Score a result, also on the scale that compares tasks (NDG):"
        f" `evoduet score {reference(task)} PROGRAM`.",
    ]
