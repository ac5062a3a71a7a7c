"""What our own scaffolds share: from a choice of parent and context to a selection with prompts."""

from __future__ import annotations

from collections.abc import Sequence

from method.protocols import FailedAttempt, Program, Selection
from method.scaffolds.solution_prompt import PromptTask, write_history, write_prompt


def select_with_prompt(
    task: PromptTask,
    t: int,
    parent: Program,
    context: Sequence[Program],
    retained: Sequence[Program],
    label: str = "",
) -> Selection:
    """A selection whose prompt is ours. ``retained`` is the population in insertion order."""
    history = write_history(task, t, retained, context)
    newest = parent
    for program in retained:
        if program.iteration >= newest.iteration:
            newest = program

    def build(documents: str, failed: Sequence[FailedAttempt]) -> str:
        return write_prompt(task, parent, newest, history, documents, failed)

    return Selection(
        parent=parent,
        context_ids=tuple(program.id for program in context),
        label=label,
        history_text=history.text,
        system_prompt=task.instructions,
        build_prompt=build,
    )
