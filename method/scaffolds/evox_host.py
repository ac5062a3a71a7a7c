"""Runs one search strategy of EvoX inside a sandbox and answers for it in JSON lines.

This file is copied into the sandbox beside the strategy's source and is the main program there; of
``skydiscover`` it loads the parts that strategies inherit from and are validated with, nothing
else. A request ``{"id": 3, "call": "add", ...}`` is answered by ``{"id": 3, "ok": ...}`` or
``{"id": 3, "error": "..."}``. Calls: ``load`` (once, first), ``add``, ``sample``, ``retained``.

The strategy is a stranger. What it answers are ids and labels, which the other side checks; what it
holds of programs is compared by digest there.
"""

from __future__ import annotations

import copy
import json
import os
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from method.scaffolds.evox_world import (
        CHECK_FILE,
        CONTEXT,
        STRATEGY_FILE,
        Guard,
        Repeatable,
        digest,
        steady,
    )
else:
    from evox_world import CHECK_FILE, CONTEXT, STRATEGY_FILE, Guard, Repeatable, digest, steady

TRIALS = 5
"""Samples drawn from a new strategy on the real population before it is taken."""


class Refused(Exception):
    """What a strategy is or does is not what the interface asks for."""


class Strategy:
    """A strategy's database with the programs it was given."""

    def __init__(self, world: Repeatable) -> None:
        self._world = world
        self._database: Any = None
        self._program: Any = None
        self._base: Any = None
        self._labels: dict[str, str] = {}

    def load(
        self, seed: int, labels: dict[str, str], programs: list[dict[str, Any]], check: bool
    ) -> bool:
        """Load the strategy and give it the population; ``check``: validate and try it first."""
        from skydiscover.search.base_database import Program
        from skydiscover.search.utils.discovery_utils import load_database_from_file

        self._base, self._labels = Program, labels
        if check:
            from skydiscover.search.evox.database.search_strategy_evaluator import evaluate

            self._world.start(seed)
            verdict = evaluate(CHECK_FILE)
            if verdict.get("validity") != 1:
                raise Refused(str(verdict.get("error")))
        self._world.start(seed)
        database_class, self._program = load_database_from_file(STRATEGY_FILE)
        for kind, name in (("diverge", "DIVERGE_LABEL"), ("refine", "REFINE_LABEL")):
            if not hasattr(database_class, name):
                setattr(database_class, name, labels[kind])
        if check:
            self._fill(database_class, seed, programs)
            for _ in range(TRIALS):
                self.sample(CONTEXT)
        self._world.start(seed)
        self._fill(database_class, seed, programs)
        return True

    def _fill(self, database_class: Any, seed: int, programs: list[dict[str, Any]]) -> None:
        from skydiscover.config import DatabaseConfig

        config = DatabaseConfig(db_path=None, log_prompts=False, random_seed=seed)
        self._database = database_class("evox", config)
        self._database.DIVERGE_LABEL = self._labels["diverge"]
        self._database.REFINE_LABEL = self._labels["refine"]
        for program in programs:
            self.add(program)

    def add(self, program: dict[str, Any]) -> bool:
        """Offer one program to the strategy."""
        entry = self._program(**copy.deepcopy(program))  # a trial must not spoil what follows
        self._database.add(entry, iteration=entry.iteration_found)
        self._database._update_best_program(entry)
        return True

    def sample(self, count: int) -> dict[str, Any]:
        """Parent, label and context of one iteration: ids, and the kind of the label."""
        answer = self._database.sample(num_inspirations=count)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise Refused("sample() must return a tuple (parent, context)")
        parents, contexts = answer
        if not isinstance(parents, dict) or len(parents) != 1:
            raise Refused("sample() must return one parent in a dict {label: program}")
        if not isinstance(contexts, dict):
            raise Refused("sample() must return its context in a dict {label: [programs]}")
        ((label, parent),) = parents.items()
        context = [self._name(entry) for group in contexts.values() for entry in group]
        return {"parent": self._name(parent), "label": self._kind(label), "context": context}

    def _name(self, entry: Any) -> str:
        if not isinstance(entry, self._base):
            raise Refused(f"sample() must return programs, not {type(entry).__name__}")
        return str(entry.id)

    def _kind(self, label: Any) -> str:
        kinds = {"": "", **{text: kind for kind, text in self._labels.items()}}
        if label not in kinds:
            raise Refused(
                "the label of the parent must be an empty string, self.DIVERGE_LABEL or "
                "self.REFINE_LABEL"
            )
        return kinds[label]

    def retained(self) -> list[list[str]]:
        """Id and digest of every program that the strategy holds."""
        programs = self._database.programs
        if not isinstance(programs, dict):
            raise Refused("self.programs must be a dict of programs by id")
        return [[str(name), digest(p.solution, p.metrics)] for name, p in programs.items()]


# --- the dialogue ----------------------------------------------------------------------------


class Channel:
    """The pipes to the other side, out of reach of what a strategy prints or reads."""

    def __init__(self) -> None:
        self._requests = os.fdopen(os.dup(0), "r", encoding="utf-8")
        self._answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def requests(self) -> Iterator[dict[str, Any]]:
        for line in self._requests:
            yield json.loads(line)

    def answer(self, number: int, **answer: Any) -> None:
        self._answers.write(json.dumps({"id": number, **answer}) + "\n")
        self._answers.flush()


def reason(error: BaseException) -> str:
    """An error as text that is the same in every run: no address, no folder."""
    words = f"{type(error).__name__}: {error}" if not isinstance(error, Refused) else str(error)
    trace, line = error.__traceback__, None
    while trace is not None:
        if os.path.basename(trace.tb_frame.f_code.co_filename) in (STRATEGY_FILE, CHECK_FILE):
            line = trace.tb_lineno
        trace = trace.tb_next
    words = words.replace(os.getcwd(), ".").replace(CHECK_FILE, STRATEGY_FILE)
    return steady(words) + (f" (line {line} of the strategy)" if line is not None else "")


def offer_parts() -> None:
    """Make single modules of skydiscover importable without running its packages.

    The packages' own ``__init__`` load model clients and a web server's worth of modules.
    """
    for folder in sys.path:
        root = Path(folder, "skydiscover")
        if root.is_dir():
            break
    else:
        raise ImportError("there is no skydiscover in the sandbox")
    inner = ("", "search", "search/utils", "search/evox", "search/evox/database", "utils")
    for part in inner:
        name = ".".join(("skydiscover", *filter(None, part.split("/"))))
        package = types.ModuleType(name)
        package.__path__ = [str(root / part)]
        sys.modules[name] = package
    import skydiscover.search.base_database
    import skydiscover.search.evox.database.search_strategy_evaluator
    import skydiscover.search.utils.discovery_utils  # noqa: F401


def main() -> None:
    """Serve until the other side hangs up."""
    channel, world, guard = Channel(), Repeatable(), Guard()
    world.install()
    offer_parts()
    strategy = Strategy(world)
    channel.answer(0, ok=True)
    guard.watch()
    calls: dict[str, Callable[..., Any]] = {
        name: getattr(strategy, name) for name in ("load", "add", "sample", "retained")
    }
    for request in channel.requests():
        number, call = request.pop("id"), request.pop("call")
        try:
            result = calls[call](**request)
        except BaseException as error:  # whatever a stranger raises, exits included
            channel.answer(number, error=guard.tried or reason(error))
        else:
            answer = {"error": guard.tried} if guard.tried else {"ok": result}
            channel.answer(number, **answer)


if __name__ == "__main__":
    main()
