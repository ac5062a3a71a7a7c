"""The solution prompt of our own scaffolds: what a model sees when it writes a candidate.

Sections in the order of methods.md 4.7: metrics and focus, previous attempts, context programs,
failed attempts of this iteration, the current program, documents, the task. The system message is
the task's instruction. Scores are printed by ``repr``: four decimals would hide progress.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from method.protocols import FailedAttempt, Program

RECENT_ITERATIONS = 100
PREVIOUS_ATTEMPTS = 3
LONG_SOURCE = 500
ARTIFACT_CHARS = 2000
FAILED_CHARS = 1500
FENCE_TAGS = {"python": "python", "cpp": "cpp", "rust": "rust"}


@dataclass(frozen=True)
class PromptTask:
    """What the prompt says about the task: text, language, how to answer, the time limit."""

    instructions: str
    language: str
    edit: Literal["diff", "full"]
    time_limit_s: float
    dedup_history: bool = False


@dataclass(frozen=True)
class History:
    """The two blocks that gate, query and scoring calls see too, word for word."""

    previous: str
    context: str

    @property
    def text(self) -> str:
        """Both blocks without headings; empty when there is no history."""
        return "\n\n".join(filter(None, (self.previous, self.context)))


def write_history(
    task: PromptTask,
    t: int,
    retained: Sequence[Program],
    context: Sequence[Program],
) -> History:
    """Previous attempts and context programs of iteration ``t``."""
    by_id = {program.id: program for program in retained}
    previous = [
        _previous_attempt(number, program, by_id)
        for number, program in reversed(list(enumerate(_best_recent(task, t, retained), start=1)))
    ]
    shown = [_context_program(task, number, program) for number, program in enumerate(context, 1)]
    return History("\n\n".join(previous), "\n\n".join(shown))


def write_prompt(
    task: PromptTask,
    parent: Program,
    newest: Program,
    history: History,
    documents: str,
    failed: Sequence[FailedAttempt],
) -> str:
    """The user prompt. ``documents`` is the rendered helpful knowledge, empty for none.

    ``newest`` is the program of the largest iteration, against which the trend is told.
    """
    sections = [
        f"# Metrics of the current program\n{_metrics(parent)}",
        f"# Focus\n{_focus(parent, newest)}",
        f"# Previous attempts\n{history.previous}" if history.previous else "",
        f"# Context programs\n{history.context}" if history.context else "",
        f"# Failed attempts of this iteration\n{_failed(failed)}" if failed else "",
        _current_program(task, parent),
        documents,
        _task_section(task),
    ]
    return "\n\n".join(filter(None, sections)) + "\n"


def specimen(edit: Literal["diff", "full"]) -> str:
    """A prompt with every section, made up: it changes when the wording or the layout does."""
    task = PromptTask("(instructions)", "python", edit, 60.0)
    x0 = Program("x0", "x = 0\n", "python", 0.0)
    best = Program(
        "best", "x = 1\n", "python", 1.0, None, {"value": 1.0}, "x0", 1, "",
        {"feedback": "(feedback)"}, "(changes)",
    )  # fmt: skip
    worse = Program("worse", f"x = {'9' * LONG_SOURCE}\n", "python", -1.0, parent_id="x0")
    failed = [FailedAttempt("(error)", "(text)")]
    prompts = [
        write_prompt(
            task, parent, newest, write_history(task, 2, [x0, best, worse], [x0]), "(documents)",
            failed,
        )
        for parent, newest in ((best, worse), (worse, best), (best, best))
    ]  # fmt: skip
    return "\n".join([task.instructions, *prompts])


def fenced(source: str, language: str) -> str:
    """Source in a fence that nothing inside it can close."""
    longest = max((len(run) for run in re.findall("`{3,}", source)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{FENCE_TAGS.get(language, language)}\n{source}\n{fence}"


def _best_recent(task: PromptTask, t: int, retained: Sequence[Program]) -> list[Program]:
    recent = [program for program in retained if program.iteration >= t - RECENT_ITERATIONS]
    recent.sort(key=lambda program: program.iteration)
    recent.sort(key=lambda program: -program.search_score)
    if task.dedup_history:
        first = {program.code: program.id for program in reversed(recent)}
        recent = [program for program in recent if first[program.code] == program.id]
    return recent[:PREVIOUS_ATTEMPTS]


def _previous_attempt(number: int, program: Program, by_id: dict[str, Program]) -> str:
    parent = by_id.get(program.parent_id or "")
    before = parent.search_score if parent is not None else 0.0
    outcome = (
        "improvement"
        if program.search_score > before
        else "regression"
        if program.search_score < before
        else "no change"
    )
    return (
        f"## Attempt {number}\n"
        f"Changes: {program.changes or 'Unknown changes'}\n"
        f"{_metrics(program)}\n"
        f"Outcome: {outcome} against its parent"
    )


def _context_program(task: PromptTask, number: int, program: Program) -> str:
    return f"## Program {number}\n{_metrics(program)}\n{fenced(program.code, task.language)}"


def _metrics(program: Program) -> str:
    lines = [f"- combined_score: {program.search_score!r}"]
    lines += [f"- {name}: {value!r}" for name, value in program.metrics.items()]
    return "\n".join(lines)


def _focus(parent: Program, newest: Program) -> str:
    lines = []
    if parent.search_score > newest.search_score:
        lines.append("- The latest program scores below the current one: something got lost.")
    elif parent.search_score < newest.search_score:
        lines.append("- The latest program scores above the current one.")
    else:
        lines.append("- The score has not moved since the latest program.")
    if len(parent.code) > LONG_SOURCE:
        lines.append("- The program is long: look for parts that can be made simpler.")
    lines.append("- combined_score is what counts; higher is better.")
    return "\n".join(lines)


def _failed(failed: Sequence[FailedAttempt]) -> str:
    return "\n\n".join(
        f"## Failure {number}\nError: {attempt.error}\n{fenced(attempt.text[:FAILED_CHARS], '')}"
        for number, attempt in enumerate(failed, start=1)
    )


def _current_program(task: PromptTask, parent: Program) -> str:
    text = f"# Current program\n{_metrics(parent)}\n\n{fenced(parent.code, task.language)}"
    for name, content in parent.artifacts.items():
        text += f"\n\n## {name}\n{content[:ARTIFACT_CHARS]}"
    return text


def _task_section(task: PromptTask) -> str:
    answer = _DIFF_ANSWER if task.edit == "diff" else _FULL_ANSWER
    tag = FENCE_TAGS.get(task.language, task.language)
    return (
        "# Task\n"
        "Improve the current program so that its combined_score rises. Keep the interface that the "
        "instructions ask for; change only what lies between the EVOLVE-BLOCK markers, and keep "
        "the markers.\n\n"
        f"{answer.replace('LANGUAGE', tag)}\n\n"
        f"The evaluator stops a program after {task.time_limit_s:g} seconds."
    )


_DIFF_ANSWER = """\
Answer with one or more blocks that name lines of the current program and what they become:

<<<<<<< SEARCH
lines of the current program, copied exactly
=======
the lines that replace them
>>>>>>> REPLACE

Each SEARCH part must match the current program line by line, white space included; the first match
is replaced. Before the blocks say in a sentence or two what you change and why."""

_FULL_ANSWER = """\
Answer with the whole new program in one block:

```LANGUAGE
the program
```

Before the block say in a sentence or two what you change and why."""
