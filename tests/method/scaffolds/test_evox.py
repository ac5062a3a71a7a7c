"""EvoX: strategies are scored, replaced, contained and rolled back; runs repeat."""

from __future__ import annotations

import gc
import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from sandboxes import BACKENDS, launcher_of
from scaffolds.scaffold_cases import (
    BEST_FIRST,
    GUIDES,
    QUICK,
    TASK,
    Score,
    ScriptedStrategist,
    child_of,
    drive,
    evox,
    misbehaving,
    needs,
    strategy,
    wait_for,
    x0,
)
from shared_data import REPOSITORY

from method.protocols import Completion, Request, Selection
from method.scaffolds.evox import EvoX
from method.scaffolds.evox_process import CallLimits, HostBroken, StrategyFailed, StrategyHost
from method.scaffolds.evox_strategies import as_fields, first_strategy
from method.scaffolds.native_population import program_id

pytestmark = needs("skydiscover", "0.1.0")

LABELS = {"diverge": "do otherwise", "refine": "do better"}


def flat(draw: Any, t: int) -> float:
    """Never better than the initial program's 0.0."""
    return -0.01 * (t % 5)


class Log:
    """What happened to strategies, and who was chosen."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.chosen: list[Selection] = []

    def __call__(self, t: int, selection: Selection, events: list[Any]) -> None:
        self.events += [{"t": t, **event} for event in events]
        self.chosen.append(selection)

    def what(self) -> list[tuple[int, str, int]]:
        return [(event["t"], event["what"], event["number"]) for event in self.events]

    def reasons(self, what: str) -> list[str]:
        return [event["reason"] for event in self.events if event["what"] == what]


def run(made: EvoX, model: ScriptedStrategist, iterations: int, **options: Any) -> Log:
    log = Log()

    async def whole() -> None:
        try:
            await drive(made, iterations, model, after=log, **{"score": flat, **options})
        finally:
            await made.close()

    wait_for(whole())
    return log


def test_thirty_iterations_with_evolutions() -> None:
    model = ScriptedStrategist([strategy(note=str(n)) for n in range(20)], GUIDES)
    made = evox(iterations=30, guides="generated")
    log = run(made, model, 30)
    # the first iteration has nothing to compare with, then three without a gain are a window
    assert log.what()[:4] == [(4, "scored", 0), (4, "taken", 1), (7, "scored", 1), (7, "taken", 2)]
    assert [event["t"] for event in log.events if event["what"] == "taken"] == list(range(4, 30, 3))
    assert model.asked("strategy") == 9
    first = model.requests[0]
    assert first.purpose == "guide"
    assert TASK.instructions in first.messages[1]["content"]
    assert "VALUE = 0" in first.messages[1]["content"]
    best_first = [selection.parent.iteration for selection in log.chosen[4:]]
    assert set(best_first) == {0}
    assert {len(selection.context_ids) for selection in log.chosen[5:]} == {4}
    prompts = [r.messages[1]["content"] for r in model.requests if r.purpose == "strategy"]
    assert "class EvolvedProgramDatabase" in prompts[0]
    assert "This search algorithm ran from iteration 0 to 3 (3 iterations)" in prompts[0]
    assert "start at iteration 4 out of 30" in prompts[0]
    assert "1.0 + " not in prompts[0]
    system = model.requests[-1].messages[0]["content"]
    assert "/ sqrt(3)" in system
    assert "HORIZON" not in system


def test_a_strategy_s_score_is_the_specified_one() -> None:
    gains = {t: 0.5 + 0.2 * min(t, 6) for t in range(1, 40)}
    made = evox(window=3)
    model = ScriptedStrategist([strategy(note="a"), strategy(note="b")])
    log = run(made, model, 16, score=lambda draw, t: gains[t])
    scored = {
        event["number"]: (event["t"], event["score"]) for event in log.events if "score" in event
    }
    rise = gains[6] - 0.0
    assert scored[0] == (9, pytest.approx(rise * 1.0 / math.sqrt(3)))
    assert scored[1] == (12, 0.0)
    made = evox(window=2)
    late = {t: 1.0 if t < 4 else 1.5 for t in range(1, 40)}
    model = ScriptedStrategist([strategy(note="a"), strategy(note="b")])
    log = run(made, model, 9, score=lambda draw, t: late[t])
    second = next(
        event for event in log.events if event["what"] == "scored" and event["number"] == 1
    )
    expected = 0.5 * (1 + math.log(2.0)) / math.sqrt(2)
    assert second["score"] == pytest.approx(expected)


def test_labels_are_shown_with_the_parent_and_told_to_later_strategies() -> None:
    labelled = strategy(
        sample="""\
    def sample(self, num_inspirations=4, **kwargs):
        self.calls += 1
        label = ["", self.DIVERGE_LABEL, self.REFINE_LABEL][self.calls % 3]
        ranked = sorted(self.programs.values(), key=lambda p: p.iteration_found)
        assert all(p.parent_info[0] in ("", self.DIVERGE_LABEL, self.REFINE_LABEL)
                   for p in ranked if p.parent_info)
        return {label: ranked[-1]}, {}
"""
    )
    made = evox(guides="generated", window=4)
    log = run(made, ScriptedStrategist([labelled], GUIDES), 12)
    assert [s.label for s in log.chosen[5:11]] == ["diverge", "refine", "", "diverge", "refine", ""]
    diverge, refine, plain = (
        log.chosen[t].build_prompt("# Helpful Knowledge", []) for t in (5, 6, 7)
    )
    assert diverge.startswith("# Direction of this attempt\n## IMPORTANT")
    assert "primes or squares" in diverge
    assert "More digits" not in diverge
    assert "More digits" in refine
    assert plain.startswith("# Metrics of the current program")
    assert diverge.index("# Current program") < diverge.index("# Helpful Knowledge")
    assert diverge.index("# Helpful Knowledge") < diverge.index("# Task")
    default = evox(guides="generated")
    log = run(default, ScriptedStrategist([labelled], "no sections"), 8)
    assert "fundamentally different" in log.chosen[5].build_prompt("", [])


REFUSED = {
    "no code": ("just talk", "fence|code|block|program"),
    "syntax": ("def f(:\n    pass\n", "invalid syntax"),
    "no classes": ("x = 1\n", "EvolvedProgramDatabase"),
    "raises at import": ("raise RuntimeError('no')\n", "no"),
    "loops at import": ("while True:\n    pass\n", "took too long"),
    "writes a file": ("open('/tmp/left', 'w').write('x')\n" + strategy(), "tried to write a file"),
    "opens a socket": ("import socket\nsocket.socket()\n" + strategy(), "tried to open a socket"),
    "starts a process": ("import os\nos.system('true')\n" + strategy(), "tried to start a process"),
    "leaves": ("import os\nos._exit(0)\n", "ended its process"),
    "mutates metrics": (
        strategy(
            add="""\
    def add(self, program, iteration=None, **kwargs):
        program.metrics["combined_score"] = 9.0
        self.programs[program.id] = program
        return program.id

"""
        ),
        "was modified",
    ),
    "label of its own": (
        strategy(sample=BEST_FIRST.replace('{"": ranked[0]}', '{"Parent": ranked[0]}')),
        "label of the parent must be",
    ),
    "forgets": (
        strategy(
            add="""\
    def add(self, program, iteration=None, **kwargs):
        self.programs.setdefault(program.id, program)
        if len(self.programs) > 5:
            self.programs = {}
        return program.id

"""
        ),
        "",
    ),
}


def test_a_strategy_that_does_not_work_is_refused_with_the_reason() -> None:
    """Three answers to each request; the population and the strategy in force stay."""
    texts = [text for text, _ in REFUSED.values()]
    model = ScriptedStrategist([*texts, strategy(note="good")])
    log = run(evox(), model, 18)
    reasons = [
        event["reason"] for event in log.events if event["what"] in ("refused", "unreadable")
    ]
    assert len(reasons) == len(REFUSED)
    for (name, (_, expected)), reason in zip(REFUSED.items(), reasons, strict=True):
        assert re.search(expected, reason), (name, reason)
        assert "/tmp" not in reason
        assert "0x" not in reason.replace("0x…", "")
    asked = [r.messages[1]["content"] for r in model.requests if r.purpose == "strategy"]
    repeated = [text for text in asked if "Your last answer could not be used" in text]
    assert len(repeated) == len(REFUSED) - len(REFUSED) // 3
    assert reasons[0] in asked[1]
    assert [what for _, what, _ in log.what()][-1] == "taken"
    assert not Path("/tmp/left").exists()


ACTS = {
    "loops": ("while True:\n    pass", "sample", "took too long"),
    "loops in add": ("while True:\n    pass", "add", "took too long"),
    "raises": ("raise KeyError('x')", "sample", r"KeyError: 'x' \(line \d+ of the strategy\)"),
    "raises in add": ("1 / 0", "add", "ZeroDivisionError"),
    "leaves": ("import os\nos._exit(3)", "sample", "ended its process"),
    "exits": ("raise SystemExit(3)", "sample", "SystemExit"),
    "writes": ("open('note.txt', 'w')", "sample", "tried to write a file"),
    "writes quietly": (
        "import os\ntry:\n    os.open('note', os.O_CREAT | os.O_RDWR)\nexcept OSError:\n    pass",
        "sample",
        "tried to write a file",
    ),
    "opens a socket": ("import socket\nsocket.socket()", "sample", "tried to open a socket"),
    "forks": ("import os\nos.fork()", "sample", "tried to start a process"),
    "mutates metrics": ("ranked[0].metrics['value'] = 7.0", "sample", "changed the metrics"),
    "mutates metrics in add": ("program.metrics['value'] = 7.0", "add", "changed the metrics"),
    "rewrites source": ("ranked[-1].solution = 'VALUE = 9'", "sample", "changed the .* source"),
    "invents a program": (
        "made = EvolvedProgram(id='made', solution='VALUE = 9', metrics={'combined_score': 9.0})\n"
        "return {'': made}, {}",
        "sample",
        "was not given",
    ),
    "keeps an invented program": (
        "self.programs['made'] = EvolvedProgram(id='made', solution='', metrics={})",
        "add",
        "was not given",
    ),
    "forgets everything": ("self.programs = {}", "add", "holds no program"),
    "writes into the pipe": (
        "import os\nfor fd in range(3, 9):\n    try:\n        os.write(fd, b'{}\\n')\n"
        "    except OSError:\n        pass",
        "sample",
        "wrote into the pipe|ended its process",
    ),
    "takes all memory": ("big = ['x' * 2**28 for _ in range(64)]", "sample", "MemoryError|MB"),
    "prints without end": (
        "while True:\n    print('x' * 2**16)", "sample", "prints without end|took too long"
    ),
    "recurses": ("def f():\n    return f()\nf()", "sample", "RecursionError"),
}  # fmt: skip


@pytest.mark.parametrize("act", ACTS)
def test_a_strategy_that_turns_bad_is_rolled_back(act: str) -> None:
    lines, where, expected = ACTS[act]
    model = ScriptedStrategist([misbehaving(lines, since=12, where=where)])
    made = evox(window=2)
    log = run(made, model, 15, score=rising_after(3))
    failed = 12 if where == "add" else 13
    assert log.what() == [(3, "scored", 0), (3, "taken", 1), (failed, "rolled_back", 1)]
    (reason,) = log.reasons("rolled_back")
    assert re.search(expected, reason), reason
    kept = [program.iteration for program in wait_for(made.retained())]
    assert kept == [0, *(t for t in range(1, 16) if t != 10)]  # nothing found was lost
    for selection in log.chosen:
        assert selection.parent.search_score == selection.parent.metrics.get("value", 0.0)
    best = [selection.parent.iteration for selection in log.chosen]
    assert best[3:12] == [0, 4, 5, 6, 7, 8, 9, 9, 11]
    assert best[12:] != [12, 13, 14]  # the one before is in force again, which draws at random


def rising_after(start: int) -> Score:
    """A gain in every iteration after the first ones, so that no window is closed."""
    return lambda draw, t: round(0.02 * max(0, t - start), 2)


@pytest.mark.parametrize("isolation", BACKENDS)
def test_waiting_is_ended_by_the_wall_clock(isolation: str) -> None:
    launcher_of(isolation)
    model = ScriptedStrategist([misbehaving("import time\ntime.sleep(600)", since=12)])
    made, log = evox(window=2, isolation=isolation), Log()

    def lose_patience(t: int, selection: Selection, events: list[Any]) -> None:
        log(t, selection, events)
        if t == 12:  # not before: a busy machine takes its time to load a strategy
            assert made._host is not None
            made._host._limits = CallLimits(wall_s=1.0)

    started = time.monotonic()
    wait_for(drive(made, 13, model, score=rising_after(3), after=lose_patience))
    wait_for(made.close())
    assert log.reasons("rolled_back") == ["the strategy took too long (allowed are 5 s)"]
    assert time.monotonic() - started < 300


def test_several_bad_strategies_fall_back_one_after_the_other() -> None:
    """All three refuse the program of iteration 12; the last one in force is asked first."""
    act = "raise RuntimeError('I refuse')"
    bad = [misbehaving(f"{act}  # {n}", since=12, where="add") for n in range(3)]
    made = evox(window=2)
    log = run(made, ScriptedStrategist(bad), 13, score=rising_after(8))
    assert [(t, n) for t, what, n in log.what() if what == "taken"] == [(3, 1), (5, 2), (7, 3)]
    back = [(event["t"], event["number"]) for event in log.events if "rolled" in event["what"]]
    assert back == [(12, 3), (12, 2), (12, 1)]
    assert log.reasons("rolled_back") == ["RuntimeError: I refuse (line 20 of the strategy)"] * 3
    kept = [program.iteration for program in wait_for(made.retained())]
    assert kept == [0, *(t for t in range(1, 14) if t != 10)]


@pytest.mark.parametrize("isolation", BACKENDS)
def test_the_host_sees_nothing_of_this_machine(isolation: str) -> None:
    launcher = launcher_of(isolation)
    spying = strategy(
        sample="""\
    def sample(self, num_inspirations=4, **kwargs):
        import os, pathlib
        seen = sorted(name for name in os.environ if "SECRET" in name or "EVODUET" in name)
        for path in ("OURS", "TESTS", "/root/.ssh", "/tmp/secret-of-the-test"):
            try:
                seen += [path, *os.listdir(path)]
            except OSError:
                pass
        raise RuntimeError(f"seen {seen}")
"""
    )
    for name, folder in (("OURS", "method"), ("TESTS", "tests")):
        spying = spying.replace(name, str(REPOSITORY / folder))
    os.environ["SECRET_OF_THE_TEST"] = "x"
    Path("/tmp/secret-of-the-test").mkdir(exist_ok=True)
    try:
        host = loaded(StrategyHost(launcher, spying, QUICK), check=False)
        with pytest.raises(StrategyFailed) as problem:
            host.call("sample", count=4)
        host.close()
    finally:
        del os.environ["SECRET_OF_THE_TEST"]
        Path("/tmp/secret-of-the-test").rmdir()
    if launcher.isolation != "process":  # without Landlock a process reads what the user can
        assert "seen []" in str(problem.value)


def loaded(host: StrategyHost, check: bool = True, count: int = 3) -> StrategyHost:
    programs = [as_fields(x0(score=0.1 * n), LABELS) for n in range(count)]
    for number, fields in enumerate(programs):
        fields["id"] = f"p{number}"
    host.call("load", seed=5, labels=LABELS, programs=programs, check=check)
    return host


def test_clock_ids_and_chance_are_functions_of_the_seed() -> None:
    drawing = strategy(
        sample="""\
    def sample(self, num_inspirations=4, **kwargs):
        import datetime, os, random, secrets, time, uuid
        import numpy
        facts = [time.time(), time.monotonic_ns(), datetime.datetime.now(), uuid.uuid4(),
                 os.urandom(4), secrets.token_hex(4), random.random(), random.Random().random(),
                 random.SystemRandom().random(), numpy.random.default_rng().random(),
                 numpy.random.random(), list({"a", "b", "c", "d"})]
        random.seed()
        raise RuntimeError(repr([*facts, random.random()]))
"""
    )
    said = []
    for _ in range(2):
        host = loaded(StrategyHost(launcher_of(BACKENDS[0]), drawing, QUICK), check=False)
        with pytest.raises(StrategyFailed) as problem:
            host.call("sample", count=4)
        host.close()
        said.append(str(problem.value))
        time.sleep(0.02)
    assert said[0] == said[1]
    assert "UUID" in said[0]


def test_a_loop_over_the_clock_comes_to_an_end() -> None:
    waiting = strategy(
        sample=BEST_FIRST.replace(
            "        self.calls += 1\n",
            "        import time\n        end = time.time() + 3\n"
            "        while time.time() < end:\n            pass\n",
        )
    )
    host = loaded(StrategyHost(launcher_of(BACKENDS[0]), waiting, QUICK))
    assert host.call("sample", count=4)["parent"] == "p2"
    host.close()


def test_hosts_end_with_their_scaffold_even_when_nobody_closes_it() -> None:
    made = evox()
    wait_for(made.start(x0(), 1, ScriptedStrategist()))
    assert made._host is not None
    process = made._host._jail.outer.pid
    os.kill(process, 0)
    del made
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    host = loaded(StrategyHost(launcher_of(BACKENDS[0]), strategy(), QUICK))
    host.close()
    host.close()


def test_a_host_that_does_not_start_is_no_strategy_s_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("method.scaffolds.evox_process.WORLD_FILE", "evox_host.py")
    with pytest.raises(HostBroken, match=r"does not start: ModuleNotFoundError.*evox_world"):
        StrategyHost(launcher_of(BACKENDS[0]), strategy(), QUICK)


def test_a_first_strategy_that_is_killed_from_outside_is_started_again() -> None:
    made, log = evox(window=50), Log()

    def murder(t: int, selection: Selection, events: list[Any]) -> None:
        log(t, selection, events)
        if t == 5:
            assert made._host is not None
            for pid in made._host._jail.untrusted():
                os.kill(pid, 9)

    wait_for(drive(made, 8, ScriptedStrategist(), score=flat, after=murder))
    assert [(what, number) for _, what, number in log.what()] == [("rolled_back", 0)]
    assert [p.iteration for p in wait_for(made.retained())] == list(range(9))
    wait_for(made.close())


def test_no_answer_keeps_the_strategy_in_force() -> None:
    class Silent(ScriptedStrategist):
        async def sample(self, request: Request) -> list[Completion]:
            self.requests.append(request)
            return [Completion("", error="down", error_kind="refused") for _ in request.slots]

    model = Silent()
    log = run(evox(guides="generated"), model, 9)
    assert log.what() == [(4, "scored", 0), (4, "unanswered", 0), (7, "unanswered", 0)]
    prompt = next(r for r in model.requests if r.purpose == "strategy").messages[1]["content"]
    assert "population_size: 5" in prompt  # the numbers stand where their description failed
    assert TASK.instructions in prompt


def test_attempts_count_when_asked() -> None:
    async def attempts(made: EvoX) -> list[int]:
        model = ScriptedStrategist([strategy(note=str(n)) for n in range(9)])
        await made.start(x0(), 1, model)
        seen = []
        for t in range(1, 10):
            selection = await made.select(t)
            child = child_of(selection, 1, t, 0.0)
            await made.insert(t, child, selection)
            events = await made.after_iteration(t, child, 3, model)
            seen += [t for event in events if event["what"] == "taken"]
        await made.close()
        return seen

    assert wait_for(attempts(evox(iterations=15, window=2))) == [3, 5, 7, 9]
    # iterations 4 and on are behind the fifteenth step of EvoX's own counter
    assert wait_for(attempts(evox(iterations=15, window=2, count_attempts=True))) == [3]


def test_the_same_under_three_hash_seeds(tmp_path: Path) -> None:
    code = (
        "import random, sys; sys.path[:0] = sys.argv[2:]; random.seed(sys.argv[1])\n"
        "from scaffolds.scaffold_cases import *\n"
        "model = ScriptedStrategist([strategy(note='1'), strategy(sample=SETS), *BAD], GUIDES)\n"
        "made = evox(guides='generated', window=15)\n"
        "print(fingerprint_of(wait_for(drive(made, 100, model))))\n"
    )
    here = Path(__file__).parents[1]
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, seed, str(here), str(here.parent), str(here.parents[1])],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("0", "1", "77")
    ]
    printed = [process.communicate()[0] for process in runs]
    assert all(process.returncode == 0 for process in runs)
    assert len(set(printed)) == 1
    assert len(printed[0].strip()) == 64


def test_the_first_strategy_is_the_package_s() -> None:
    assert "class EvolvedProgramDatabase" in first_strategy()
    made = evox(window=50)
    log = run(made, ScriptedStrategist(), 40)
    parents = [selection.parent.iteration for selection in log.chosen]
    assert len(set(parents[20:])) > 8  # at random
    ids = {program_id(1, t, 0, "child") for t in range(41)}
    assert all(set(selection.context_ids) <= ids for selection in log.chosen)
