"""Scripted iterations and strategies for the tests of the package scaffolds."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, TypeVar

import pytest
from fake_task import LocalModel

from method.protocols import Completion, Program, Request, Sampling, Scaffold, Selection
from method.scaffolds.evox import EvoX, EvoXSettings
from method.scaffolds.evox_process import CallLimits
from method.scaffolds.native_population import program_id
from method.scaffolds.options import EvoXOptions
from method.scaffolds.solution_prompt import PromptTask

TASK = PromptTask("Find a large number.", "python", "diff", 60.0)
ResultT = TypeVar("ResultT")


def needs(package: str, versions: str) -> pytest.MarkDecorator:
    """Skips, with the reason, where the package is not installed in a fitting version."""
    try:
        found = metadata.version(package)
    except metadata.PackageNotFoundError:
        found = ""
    return pytest.mark.skipif(
        not found.startswith(versions),
        reason=f"needs {package} {versions}, found {found or 'none'}",
    )


def wait_for(coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
    return asyncio.run(coroutine)


def x0(seed: int = 1, score: float = 0.0) -> Program:
    return Program(program_id(seed, 0, 0, "child"), "VALUE = 0\n", "python", score)


def child_of(selection: Selection, seed: int, t: int, score: float, code: str = "") -> Program:
    return Program(
        id=program_id(seed, t, 0, "child"),
        code=code or f"VALUE = {t}\n" + "# more\n" * (t % 7),
        language="python",
        search_score=score,
        metrics={"value": score},
        parent_id=selection.parent.id,
        iteration=t,
        label=selection.label,
        artifacts={"feedback": f"seen in iteration {t}"},
        changes=f"change {t}",
        context_ids=selection.context_ids,
    )


QUICK = CallLimits(cpu_s=1.0, wall_s=20.0)


def evox(
    *,
    iterations: int = 100,
    isolation: str = "auto",
    limits: CallLimits = QUICK,
    window: int = 3,
    **options: Any,
) -> EvoX:
    given = EvoXOptions(window=window, **{"guides": "default", **options})
    return EvoX(TASK, EvoXSettings(iterations, Sampling(), given, isolation, limits))


Score = Callable[[random.Random, int], float]


def uneven(draw: random.Random, t: int) -> float:
    """Mostly small steps, some of them down."""
    return round(0.01 * t * draw.random() - 0.1, 6)


async def drive(
    scaffold: Scaffold,
    iterations: int,
    model: ScriptedStrategist,
    *,
    seed: int = 1,
    score: Score = uneven,
    after: Callable[[int, Selection, list[Any]], None] = lambda t, selection, events: None,
) -> list[str]:
    """Run scripted iterations, every tenth without a child; a fingerprint of each."""
    draw = random.Random(seed)
    seen = []
    await scaffold.start(x0(seed), seed, model)
    for t in range(1, iterations + 1):
        selection = await scaffold.select(t)
        prompt = selection.build_prompt("", [])
        child = None
        if t % 10:
            child = child_of(selection, seed, t, score(draw, t))
            await scaffold.insert(t, child, selection)
        events = await scaffold.after_iteration(t, child, 1, model)
        after(t, selection, list(events))
        facts = (selection.parent.id, selection.context_ids, selection.label, prompt, events)
        seen.append(f"{await scaffold.fingerprint()} {facts!r}")
    return seen


def fingerprint_of(seen: list[str]) -> str:
    return hashlib.sha256("\n".join(seen).encode()).hexdigest()


@dataclass
class ScriptedStrategist:
    """A model that answers requests for strategies with the given sources, in order."""

    strategies: list[str] = field(default_factory=list)
    guides: str = ""
    name: str = "strategist"
    requests: list[Request] = field(default_factory=list)

    async def sample(self, request: Request) -> list[Completion]:
        self.requests.append(request)
        return [Completion(self._answer(request)) for _ in request.slots]

    def _answer(self, request: Request) -> str:
        if request.purpose != "strategy":
            return self.guides if len(self.requests) == 1 else "A fact with the number 3."
        number = self.asked("strategy") - 1
        if number >= len(self.strategies):
            return "I have no further idea."
        text = self.strategies[number]
        return f"```python\n{text}\n```" if "\n" in text else text

    def asked(self, purpose: str) -> int:
        return sum(request.purpose == purpose for request in self.requests)


GUIDES = """\
### EXPLORATION (diverge_label)
EXAMPLES OF DIFFERENT approaches:
- **Other numbers**: primes or squares

### EXPLOITATION (refine_label)
EXAMPLES OF REFINEMENT strategies:
- **More digits**: of the same number
"""

HEAD = """\
import random
from dataclasses import dataclass

from skydiscover.search.base_database import Program, ProgramDatabase


@dataclass
class EvolvedProgram(Program):
    pass


class EvolvedProgramDatabase(ProgramDatabase):
"""
INIT = """\
    def __init__(self, name, config):
        super().__init__(name, config)
        self.calls = 0

"""
ADD = """\
    def add(self, program, iteration=None, **kwargs):
        self.programs[program.id] = program
        return program.id

"""
BEST_FIRST = """\
    def sample(self, num_inspirations=4, **kwargs):
        self.calls += 1
        ranked = sorted(self.programs.values(), key=lambda p: -p.metrics["combined_score"])
        return {"": ranked[0]}, {"": ranked[1 : num_inspirations + 1]}
"""


def strategy(
    *, head: str = HEAD, init: str = INIT, add: str = ADD, sample: str = BEST_FIRST, note: str = ""
) -> str:
    """A strategy module; parts of it can be replaced."""
    return f"{head}{init}{add}{sample}# {note}\n"


def misbehaving(act: str, *, since: int, where: str = "sample") -> str:
    """A strategy that works until it holds a program of iteration ``since``, then acts.

    The package validates strategies with programs of iterations up to 11; later ones come from a
    run, so that the strategy is taken at first.
    """
    lines = "".join(f"            {line}\n" for line in act.splitlines())
    late = f"        if max(p.iteration_found for p in self.programs.values()) >= {since}:\n{lines}"
    if where == "sample":
        return strategy(sample=BEST_FIRST.replace("        return", f"{late}        return"))
    return strategy(add=ADD.replace("        return", f"{late}        return"))


SETS = """\
    def sample(self, num_inspirations=4, **kwargs):
        names = list(set(self.programs))
        label = random.choice(["", self.DIVERGE_LABEL, self.REFINE_LABEL])
        context = [self.programs[name] for name in names[:3]]
        return {label: self.programs[random.choice(names)]}, {"": context}
"""
"""A strategy that looks at the order of a set."""

BAD = [misbehaving("raise KeyError(object())", since=since) for since in (50, 70)]


class Strategist(LocalModel):
    """The scripted model, which can write strategies too: the first answer is of no use."""

    async def sample(self, request: Request) -> list[Completion]:
        if request.purpose != "strategy":
            return await super().sample(request)
        self.calls += len(request.slots)
        again = "Your last answer could not be used" in request.messages[-1]["content"]
        text = strategy(sample=SETS) if again else strategy(head="raise ValueError\n")
        return [Completion(f"```python\n{text}\n```", cost_usd=0.01) for _ in request.slots]
