"""What EvoX asks the model for: guide texts, descriptions of the state, new strategies.

Formatters and templates are skydiscover's. Its prompt builder is not used: it opens a file that the
wheel lacks, and calls models from threads of its own. Here every call goes through the run's model,
purposes ``guide`` and ``strategy``, one after the other.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from method.protocols import LLM, Purpose, Request, Sampling
from method.scaffolds.evox_strategies import GAIN, Window, package_file
from method.scaffolds.solution_prompt import PromptTask

EVALUATOR = "(not shown: the problem description says what is scored; higher is better)"


@dataclass(frozen=True)
class StrategyPrompt:
    """What the model is asked for a new strategy; ``current`` is the source it rewrites."""

    system: str
    user: str
    current: str


class StrategyWriter:
    """The model as EvoX uses it. A call that fails gives an empty text."""

    def __init__(self, task: PromptTask, sampling: Sampling, window: Window) -> None:
        self._task = task
        self._sampling = sampling
        self._window = window
        self._problem = ""

    async def write_guides(self, llm: LLM, x0: str) -> dict[str, str]:
        """The two instruction texts of a run, from the task; the package's own if that fails."""
        from skydiscover.search.evox.utils import template

        asked = _Pool()
        self._operators(asked, x0)
        answer = await self._ask(llm, "guide", asked.system, asked.user)
        diverge, refine = self._operators(_Pool(answer), x0)
        field = "{GENERATED_EXAMPLES}"
        if (
            diverge == template.DIVERGE_TEMPLATE.replace(field, "")
            or refine == template.REFINE_TEMPLATE.replace(field, "")
        ):  # fmt: skip
            return default_guides()
        return {"diverge": diverge, "refine": refine}

    def _operators(self, pool: _Pool, x0: str) -> tuple[str, str]:
        """The package's own function around one model call, which ``pool`` stands in for."""
        from skydiscover.search.evox.utils.variation_operator_generator import (
            generate_variation_operators,
        )

        python = self._task.language == "python"
        with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
            # Without this file the package would list what is installed on this machine.
            Path(folder, "requirements.txt").write_text(
                "numpy\nscipy\n" if python else "the standard library of the language\n"
            )
            diverge, refine = _finish(
                generate_variation_operators(
                    self._task.instructions,
                    EVALUATOR,
                    problem_dir=folder,
                    initial_program_solution=x0,
                    llm_pool=pool,
                )
            )
        return str(diverge), str(refine)

    async def write_prompt(
        self, llm: LLM, t: int, statistics: Mapping[str, Any], parent: Any, shown: Sequence[Any]
    ) -> StrategyPrompt:
        """What to ask for a new strategy after iteration ``t``, and asks for the texts in it.

        One call describes the population, one the problem (once a run), one the strategies
        ``shown`` beside the ``parent``, which is to be rewritten.
        """
        from skydiscover.prompt.evox import formatters

        system = STRATEGY_SYSTEM.replace("HORIZON", str(self._window.length))
        window = {
            "window_start_iteration": t,
            "total_iterations": self._window.iterations,
            "search_window_horizon": self._window.length,
            "improvement_threshold": GAIN,
        }
        population = await self._population_text(llm, statistics)
        problem = await self._problem_text(llm)
        summaries = await self._summaries(llm, system, shown)
        user = _template("search_evolution_full_rewrite_user").format(
            problem_template=problem,
            search_window_context=formatters.format_search_window_context({"search_stats": window}),
            population_state=population,
            current_program=formatters.format_current_program({"": parent}, "python"),
            inspiration_programs=formatters.format_search_algorithms(
                {"": list(shown)} if shown else {}, "python", summaries_by_num=summaries
            ),
            language="python",
        )
        return StrategyPrompt(system, user, str(parent.solution))

    async def ask_for_strategy(self, llm: LLM, prompt: StrategyPrompt, refusal: str) -> str:
        """The model's answer. ``refusal``: why the last one, if there was one, was of no use."""
        user = prompt.user
        if refusal:
            user += f"\n\nYour last answer could not be used: {refusal}"
        return await self._ask(llm, "strategy", prompt.system, user)

    async def _population_text(self, llm: LLM, statistics: Mapping[str, Any]) -> str:
        from skydiscover.prompt.evox import formatters

        recent = formatters.filter_db_stats_by_horizon(dict(statistics), self._window.length)
        facts = str(formatters.format_population_state(recent))
        system = _template("stats_insight_system_message")
        return await self._ask(llm, "guide", system, f"Population Statistics:\n\n{facts}") or facts

    async def _problem_text(self, llm: LLM) -> str:
        if not self._problem:
            described = _template("problem_template").format(
                problem_description=self._task.instructions, evaluator_context=EVALUATOR
            )
            system = _template("problem_context_summary_system_message")
            summary = await self._ask(llm, "guide", system, described)
            self._problem = summary.strip() or described
        return self._problem

    async def _summaries(self, llm: LLM, system: str, shown: Sequence[Any]) -> dict[int, str]:
        from skydiscover.prompt.evox import formatters

        known = formatters.prepare_search_algorithms_data(list(shown))
        if not known:
            return {}
        sections = _sections(_template("batch_summary_prompt"))
        parts = [
            f"=== PROGRAM {entry['program_num']} (score {entry['combined_score']!r}, improvement "
            f"{entry['improvement']!r}) ===\n"
            + sections["PER_PROGRAM"].format(
                task_description=system,
                solution=entry["solution"],
                db_stats_text=entry["db_stats_text"],
            )
            for entry in known
        ]
        user = sections["INSTRUCTIONS"].format(
            num_programs=len(known), combined_content="\n".join(parts)
        )
        answer = await self._ask(llm, "guide", sections["SYSTEM"], user)
        return dict(formatters.parse_batch_summaries(answer, known))

    async def _ask(self, llm: LLM, purpose: Purpose, system: str, user: str) -> str:
        messages = ({"role": "system", "content": system}, {"role": "user", "content": user})
        (completion,) = await llm.sample(Request(purpose, messages, self._sampling))
        return "" if completion.error is not None else completion.text


class _Pool:
    """Stands in for the package's pool of models: keeps what is asked, gives an answer."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self.system = self.user = ""

    async def generate(self, system_message: str, messages: Sequence[Mapping[str, str]]) -> str:
        self.system, self.user = system_message, messages[-1]["content"]
        return self.text


def _finish(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that has nothing to wait for."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    coroutine.close()
    raise RuntimeError("skydiscover waits for something else than its model")


def default_guides() -> dict[str, str]:
    """The package's instruction texts for any task."""
    from skydiscover.search.evox.utils import template

    return {
        "diverge": template.DEFAULT_DIVERGE_TEMPLATE,
        "refine": template.DEFAULT_REFINE_TEMPLATE,
    }


def _template(name: str) -> str:
    return package_file("prompt/evox/templates", f"{name}.txt")


def _sections(text: str) -> dict[str, str]:
    """The parts of a template that are headed ``===NAME===``."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        mark = line.strip()
        if len(mark) > 6 and mark.startswith("===") and mark.endswith("==="):
            lines = sections.setdefault(mark.strip("="), [])
        else:
            lines.append(line)
    return {name: "\n".join(part).strip() for name, part in sections.items()}


STRATEGY_SYSTEM = """\
You write search strategies for an evolutionary search over programs. In every iteration the \
strategy in force names one program that a language model will improve (the parent) and a few \
others that the model sees beside it (the context). The improved program is evaluated and given to \
the strategy. You never see the task's evaluator and write no candidate programs: you decide what \
is improved next.

# Interface
A strategy is one Python module with exactly these two classes:

```python
from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

from skydiscover.config import DatabaseConfig
from skydiscover.search.base_database import Program, ProgramDatabase


@dataclass
class EvolvedProgram(Program):
    ...  # further fields need defaults


class EvolvedProgramDatabase(ProgramDatabase):
    def __init__(self, name: str, config: DatabaseConfig): ...
    def add(self, program: EvolvedProgram, iteration: Optional[int] = None, **kwargs) -> str: ...
    def sample(
        self, num_inspirations: Optional[int] = 4, **kwargs
    ) -> Tuple[Dict[str, EvolvedProgram], Dict[str, List[EvolvedProgram]]]: ...
```

- `__init__` calls `super().__init__(name, config)`, which makes `self.programs`, a dict by id.
- `add` keeps the program in `self.programs[program.id]` and returns the id. It gets the whole \
population, oldest first, when the strategy comes into force, then each new program.
- `sample` returns `({label: parent}, {label: [context programs]})`: one parent and at most \
`num_inspirations` context programs, all taken from `self.programs`. It must work with a single \
program.
- A program has `id`, `solution` (source), `metrics` (`metrics["combined_score"]`, higher is \
better), `iteration_found`, `parent_id`, `other_context_ids`, `parent_info` (label and id), \
`metadata`, `artifacts`.
- The label of the parent is `""`, `self.DIVERGE_LABEL` or `self.REFINE_LABEL`; the last two are \
long instructions that are shown to the model with the parent: do something fundamentally \
different, or polish what is there. Use them where they help. Labels of context groups are not \
shown.

# How a strategy is scored
With `start` the best combined_score when the strategy came into force and `gain` its rise since \
then, the score is gain * (1 + ln(1 + max(0, start))) / sqrt(HORIZON). A strategy is replaced when \
the best score has not risen by more than 0.01 for HORIZON iterations in a row. One program is \
evaluated in each iteration: strategies must be useful within few samples.

# Forbidden
- changing the metrics or the source of a program, or inventing programs;
- files, network, processes, threads, sleeping;
- more than 5 seconds for any call.
A strategy that does so, or that raises, is removed at once. Use the standard library and numpy; \
draw random numbers from the module `random`.
"""
