"""Running a candidate's router on cases: two tracks, one kind of outcome.

Every case has a sandbox of its own, in which no other case is to be seen. A router that breaks, or
takes too long for one case, has failed that case alone; a budget for all cases ends what never
ends. What a router wrote is untrusted: here it is only brought into a shape that can be stored.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from benchmark.evaluator import Completed, Crashed, Invalid, OutOfMemory, Sandbox, TimedOut
from benchmark.sandbox import policy
from tasks.quantum_compilation.swap_reduction.suite import SEED, Suite, case_text

TRACE = "trace.json"
TOOLS = Path(__file__).with_name("tools")
"""Holds the package ``swap_router``, which runs next to a Python policy."""

CASE_S = 300.0
"""CPU and wall seconds of one case."""

MAX_TRACE_BYTES = 4 * 2**20
"""Of one case: forty times what the initial program writes for the largest one."""

MAX_ALL_TRACES_BYTES = 32 * 2**20
ERROR_CHARS = 300


@dataclass(frozen=True)
class Trials:
    """How many layouts are tried, and how many runs from each."""

    layouts: int
    runs: int

    @classmethod
    def parse(cls, text: str) -> Trials:
        """``4x4`` and the like; raises ``ValueError``."""
        layouts, _, runs = text.partition("x")
        if not (layouts.isdecimal() and runs.isdecimal() and int(layouts) and int(runs)):
            raise ValueError(f"{text!r} is no number of trials; write layouts x runs, as in 4x4")
        return cls(int(layouts), int(runs))

    @property
    def arguments(self) -> list[str]:
        """For the command line of a router."""
        return [str(SEED), str(self.layouts), str(self.runs)]


@dataclass(frozen=True)
class Outcome:
    """What came out of one case: the record to be stored, and what the parent measured.

    ``record`` has ``initial_layout`` and ``swaps``, or ``error``; ``forced`` is the router's own
    count of the release valve, ``loaded`` whether the policy got as far as being asked, ``size``
    the length of the trace in bytes.
    """

    record: dict[str, Any]
    status: str
    cpu_s: float = 0.0
    forced: int | None = None
    loaded: bool = True
    size: int = 0


class Router(Protocol):
    """Routes one case (see :func:`case_text`) in a sandbox."""

    def route(self, case: bytes, sandbox: Sandbox, *, wall_s: float) -> Outcome:
        """Never raises for what the candidate is to blame for."""


@dataclass(frozen=True)
class RustRouter:
    """A built router; ``hash_seed`` decides the order of hash maps inside it."""

    executable: Path
    trials: Trials
    hash_seed: int = 0

    def route(self, case: bytes, sandbox: Sandbox, *, wall_s: float) -> Outcome:
        """See :class:`Router`."""
        argv = [str(self.executable), str(self.hash_seed % 2**64), *self.trials.arguments]
        return _outcome(argv, case, sandbox, wall_s, visible=[self.executable])


@dataclass(frozen=True)
class PythonRouter:
    """A policy's source, run next to the package ``swap_router``; ``hash_seed`` orders sets."""

    source: str
    trials: Trials
    hash_seed: int = 0

    def route(self, case: bytes, sandbox: Sandbox, *, wall_s: float) -> Outcome:
        """See :class:`Router`."""
        start = f"import sys; sys.path.insert(0, {str(TOOLS)!r}); import swap_router.__main__ as m"
        argv = [str(policy.visible().interpreter), "-B", "-c", f"{start}; m.main()"]
        return _outcome(
            [*argv, *self.trials.arguments],
            case,
            sandbox,
            wall_s,
            visible=[TOOLS],
            files={"candidate.py": self.source.encode()},
            env={"PYTHONHASHSEED": str(self.hash_seed % 2**32)},
        )


def route_suite(
    router: Router, suite: Suite, sandbox: Sandbox, budget_s: float
) -> list[tuple[str, Outcome]]:
    """Route all cases of a suite within ``budget_s`` seconds; ids with outcomes, in order.

    Raises :class:`TimedOut` when the budget is used up, :class:`Crashed` for a policy that does not
    even load, :class:`Invalid` for traces that are too long to be kept.
    """
    outcomes: list[tuple[str, Outcome]] = []
    deadline = time.monotonic() + budget_s
    for case in suite.cases:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise TimedOut(f"all cases together took more than {budget_s:g} s")
        text = case_text(*suite.parts(case))
        outcome = router.route(text, sandbox, wall_s=min(CASE_S, left_s))
        if not outcome.loaded:
            raise Crashed(f"the program does not load: {outcome.record['error']}")
        outcomes.append((case.id, outcome))
        if sum(each.size for _, each in outcomes) > MAX_ALL_TRACES_BYTES:
            raise Invalid(f"the traces take more than {MAX_ALL_TRACES_BYTES >> 20} MB")
    if time.monotonic() > deadline:
        raise TimedOut(f"all cases together took more than {budget_s:g} s")
    return outcomes


def records(outcomes: Sequence[tuple[str, Outcome]]) -> list[Any]:
    """What an artifact holds of the outcomes."""
    return [{"id": name, **outcome.record} for name, outcome in outcomes]


def facts(outcomes: Sequence[tuple[str, Outcome]]) -> dict[str, Any]:
    """What the parent measured, by case."""
    return {name: {"status": outcome.status, "cpu_s": outcome.cpu_s} for name, outcome in outcomes}


def _outcome(
    argv: Sequence[str],
    case: bytes,
    sandbox: Sandbox,
    wall_s: float,
    *,
    visible: Sequence[Path],
    files: Mapping[str, bytes] | None = None,
    env: Mapping[str, str] | None = None,
) -> Outcome:
    try:
        done = sandbox.run(
            argv,
            stdin=case,
            files=files,
            visible=visible,
            outputs=[TRACE],
            env=env,
            wall_s=wall_s,
            cpu_s=CASE_S,
        )
    except TimedOut:
        return Outcome({"error": "took too long"}, "timeout")
    except (OutOfMemory, Crashed) as failure:
        return Outcome({"error": str(failure)}, failure.status)
    if done.returncode != 0:
        return Outcome({"error": _ending(done.returncode)}, "crashed", done.cpu_s)
    return _parsed(done)


def _ending(returncode: int) -> str:
    if returncode > 0:
        return f"exited with status {returncode}"
    try:
        return f"killed by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"killed by signal {-returncode}"


def _parsed(done: Completed) -> Outcome:
    """The trace that was written, reduced to what is stored; the scorer looks at its values."""
    content = done.outputs.get(TRACE, b"")
    if len(content) > MAX_TRACE_BYTES:
        return Outcome({"error": "the trace is too long"}, "crashed", done.cpu_s)
    try:
        written = json.loads(content)
        if not isinstance(written, dict):
            raise ValueError
    except (ValueError, RecursionError):
        return Outcome({"error": "there is no readable trace"}, "crashed", done.cpu_s)
    if "error" in written:
        text = str(written["error"])[:ERROR_CHARS]
        error = "".join(letter if letter.isprintable() else " " for letter in text)
        return Outcome(
            {"error": error}, "failed", done.cpu_s, loaded=written.get("loaded") is not False
        )
    record = {name: written.get(name) for name in ("initial_layout", "swaps")}
    if not (_is_flat(record["initial_layout"]) and _is_list_of_flat(record["swaps"])):
        return Outcome({"error": "the trace is no layout with SWAPs"}, "crashed", done.cpu_s)
    forced = written.get("forced")
    count = forced if type(forced) is int else None
    return Outcome(record, "ok", done.cpu_s, count, size=len(content))


def _is_flat(value: Any) -> bool:
    """A list without containers in it."""
    return isinstance(value, list) and not any(isinstance(item, list | dict) for item in value)


def _is_list_of_flat(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_flat, value))
