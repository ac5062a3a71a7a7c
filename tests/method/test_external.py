"""Methods that run as a process: what they are told, how they go wrong, how they go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from fake_task import LocalEvaluator

from method import external
from method.config import ConfigProblem, RunConfig, make_config
from method.engine import InvalidSeed
from method.journal import FILE_NAME, read_journal
from method.ports import Incomplete
from method.runs import Clients, best_program, replay, resume, run, summarise
from method.sources import MethodProblem
from method.trace import check_trace, read_trace

LISTENING = """
import json, os, random, subprocess, sys, time

def say(**message):
    print(json.dumps(message), flush=True)

def note(text):
    with open(os.environ["NOTES"], "a") as file:
        file.write(text + "\\n")

for line in sys.stdin:
    told = json.loads(line)
    note(line.rstrip())
    event, t = told["event"], told.get("t")
    if event == "start":
        start = told
    if event == "end":
        break
    if event == "propose":
"""


class Method:
    """A process whose answer to ``propose`` is given as Python source."""

    def __init__(self, folder: Path, answer: str, **options: Any) -> None:
        self.script, self.notes = folder / "its_method.py", folder / "notes.jsonl"
        self.out, self.options = folder / "run", options
        self.evaluator = LocalEvaluator(held_out=bool(options.pop("held_out", False)))
        self.answers(answer)

    def answers(self, answer: str) -> None:
        lines = "".join(f"        {line}\n" for line in answer.splitlines())
        self.script.write_text(LISTENING + lines)

    @property
    def config(self) -> RunConfig:
        return make_config(
            None, task="cp26", command=[sys.executable, str(self.script)], method="mine",
            **{"iterations": 4, **self.options},
        )  # fmt: skip

    def run(self) -> Any:
        return run(self.config, self.out, clients=Clients(evaluator=self.evaluator))

    def resume(self, **options: Any) -> Any:
        return resume(self.out, clients=Clients(evaluator=self.evaluator), **options)

    def told(self, event: str = "") -> list[dict[str, Any]]:
        rows = [json.loads(line) for line in self.notes.read_text().splitlines()]
        return [row for row in rows if not event or row["event"] == event]


@pytest.fixture(autouse=True)
def _notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTES", str(tmp_path / "notes.jsonl"))


GOOD = 'say(program=f"VALUE = {t / 10}", changes=f"number {t}", parent=t - 1)'


def test_a_run_of_a_process_is_a_run(tmp_path: Path) -> None:
    method = Method(tmp_path, GOOD, max_hours=1.0, model="its-model", method_options={"size": 3})
    result = method.run()
    assert (result.status, result.summary["done"]) == ("finished", 4)
    assert (result.summary["method"], result.summary["model"]) == ("mine", "its-model")
    assert (result.summary["cost_usd"], result.summary["unpriced_calls"]) == (None, 0)
    assert result.summary["best"]["search_score"] == 0.4
    assert best_program(method.out)[0] == "VALUE = 0.4"
    records = read_trace(method.out)
    check_trace(records)
    assert [record["gate"] for record in records] == [None] * 4
    assert [record["parent"]["iteration"] for record in records] == [0, 1, 2, 3]
    assert records[1]["candidates"][0]["diff_summary"] == "number 2"
    assert (method.out / "documents.jsonl").read_text() == ""
    before = (method.out / FILE_NAME).read_bytes()
    assert replay(method.out).summary == result.summary
    assert (method.out / FILE_NAME).read_bytes() == before


def test_a_replay_starts_no_process(tmp_path: Path) -> None:
    method = Method(tmp_path, GOOD)
    command = tmp_path / "interpreter"
    command.symlink_to(sys.executable)
    given = make_config(
        None, task="cp26", iterations=2, command=[str(command), "-I", str(method.script)]
    )
    result = run(given, method.out, clients=Clients(evaluator=method.evaluator))
    command.unlink()
    assert replay(method.out).summary == result.summary
    with pytest.raises(ConfigProblem, match="no such program"):
        method.resume()


def test_what_it_is_told(tmp_path: Path) -> None:
    method = Method(tmp_path, GOOD, max_hours=1.0, model="its-model", method_options={"size": 3})
    method.run()
    (start,) = method.told("start")
    assert (start["protocol"], start["task"]) == ("evoduet.external/1", "mathematics/cp26")
    assert "circle" in start["instructions"].lower()
    assert start["budget"] == {"evaluations": 4, "hours": 1.0}
    assert (start["seed"], start["model"], start["options"]) == (42, "its-model", {"size": 3})
    assert start["limits"]["program_chars"] == 60_000
    evaluations = method.told("evaluation")
    assert [row["t"] for row in evaluations] == [0, 1, 2, 3, 4]
    assert (evaluations[0]["search_score"], evaluations[0]["feedback"]) == (0.0, "the seed")
    assert evaluations[0]["program"].startswith(("#", '"', "import", "def", "from"))
    assert evaluations[2]["metrics"] == {"value": 0.2}
    assert evaluations[2]["best"] == {"t": 2, "search_score": 0.2}
    assert [row["event"] for row in method.told()][-1] == "end"


def test_failures_are_verdicts_and_use_up_their_iteration(tmp_path: Path) -> None:
    method = Method(
        tmp_path,
        'say(program=["VALUE = -1", "x" * 70_000, "VALUE = 0.5", "VALUE = 0.25"][t - 1])',
    )
    result = method.run()
    rows = method.told("evaluation")[1:]
    assert [row["status"] for row in rows] == ["invalid", "invalid", "ok", "ok"]
    assert rows[0]["reason"] == "negative"
    assert rows[1]["reason"] == "70000 characters; at most 60000 are accepted"
    assert rows[0]["search_score"] is None
    records = read_trace(method.out)
    check_trace(records)
    assert [record["child"] is None for record in records] == [True, True, False, False]
    assert records[1]["candidates"][0]["parse"] == "too_long"
    assert records[3]["parent"]["iteration"] == 3  # by default the best so far
    assert result.summary["best"]["t"] == 3
    assert replay(method.out).summary == result.summary


def test_it_may_say_that_it_is_done(tmp_path: Path) -> None:
    method = Method(tmp_path, 'say(program="VALUE = 0.1") if t < 3 else say(done="no idea left")')
    result = method.run()
    assert (result.status, result.summary["done"]) == ("finished", 2)
    assert replay(method.out).summary == result.summary
    assert method.resume().summary == result.summary
    with pytest.raises(ConfigProblem, match="said that it is done"):
        method.resume(iterations=9)


def test_held_out_scores_are_measured_and_not_told(tmp_path: Path) -> None:
    method = Method(tmp_path, GOOD, held_out=True, report_iterations=(2,))
    result = method.run()
    assert result.summary["best"]["reporting"] > 1234
    reports = [record["report"] for record in read_trace(method.out)]
    assert [report is None for report in reports] == [True, False, True, False]
    method.resume(iterations=6)
    assert all(row["objective"] is None for row in method.told("evaluation"))
    assert "1234.5" not in method.notes.read_text()
    assert "held_out" not in method.notes.read_text()


BAD = [
    ('print("Loading model ...", flush=True)', r"line 1 .* no JSON object: 'Loading model"),
    ("print(chr(0xd8) * 3, flush=True)", "no JSON object"),
    ('sys.stdout.buffer.write(b"\\xff\\xfe\\n"); sys.stdout.flush()', "no JSON object"),
    ('print("[" * 100_000, flush=True)', "no JSON object"),
    ("print(flush=True)", "no JSON object: ''"),
    ("print(3, flush=True)", "no JSON object: '3'"),
    ('say(code="VALUE = 1")', "unknown key 'code'"),
    ("say(parent=0)", "neither program nor done"),
    ('say(program=" ")', "program must be a text that is not empty"),
    ("say(program=7)", "program must be a text"),
    ('say(program="VALUE = 1", parent=1)', "parent 1 is no t of a program with a score"),
    ('say(program="VALUE = 1", parent=True)', "parent True"),
    ('sys.stderr.write("out of luck\\n"); sys.exit(3)', r"exit code 3 .*\(out of luck\)"),
    ("os.kill(os.getpid(), 9)", "killed by signal SIGKILL"),
    ("os.close(1); sys.stdin.readlines()", "closed its stdout"),
    (
        'sys.stdout.write(\'{"program": "VALUE = 1\'); sys.stdout.flush(); os._exit(0)',
        "exit code 0",
    ),
    ("x = 1 / 0", "ZeroDivisionError"),
]


@pytest.mark.parametrize(("answer", "message"), BAD)
def test_a_broken_process_is_told_apart_and_can_be_resumed(
    tmp_path: Path, answer: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external, "LEAVE_S", 1.0)
    method = Method(tmp_path, answer)
    with pytest.raises(MethodProblem, match=message):
        method.run()
    assert summarise(method.out)["status"] == "interrupted:external"
    with pytest.raises(Incomplete):
        replay(method.out)
    method.answers(GOOD)
    result = method.resume()
    assert (result.status, result.summary["done"]) == ("finished", 4)
    assert replay(method.out).summary == result.summary


def test_a_flood_without_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "LONGEST_LINE", 1 << 20)
    method = Method(tmp_path, 'while True: sys.stdout.write("x" * 65536)')
    with pytest.raises(MethodProblem, match="a line of more than 1 MiB"):
        method.run()
    monkeypatch.setattr(external, "LOG_BYTES", 1 << 20)
    method.answers('sys.stderr.write("y" * (3 << 20)); sys.stderr.flush(); ' + GOOD)
    assert method.resume().status == "finished"
    assert (method.out / "method.log").stat().st_size == 1 << 20


def test_programs_written_ahead_wait_for_their_turn(tmp_path: Path) -> None:
    method = Method(tmp_path, 'for n in range(9): say(program=f"VALUE = {n / 10}")')
    result = method.run()
    assert result.summary["done"] == 4
    assert method.evaluator.evaluated[1:] == [f"VALUE = {n / 10}" for n in range(4)]


def test_silence_ends_after_the_limit(tmp_path: Path) -> None:
    method = Method(tmp_path, "time.sleep(600)", proposal_timeout_s=1.0)
    with pytest.raises(MethodProblem, match="proposed nothing for 1 s; raise proposal_timeout_s"):
        method.run()


def test_a_process_that_does_not_read_is_silent_too(tmp_path: Path) -> None:
    method = Method(tmp_path, GOOD, proposal_timeout_s=1.0, iterations=3)
    method.run()
    method.script.write_text("import time\ntime.sleep(600)\n")
    with pytest.raises(MethodProblem, match="proposed nothing for 1 s"):
        method.resume(iterations=5)


def test_hours_used_up_while_it_thinks_end_the_run(tmp_path: Path) -> None:
    method = Method(
        tmp_path, 'time.sleep(600) if t > 1 else say(program="VALUE = 1")', max_hours=1.5 / 3600
    )
    result = method.run()
    assert (result.status, result.summary["done"]) in (("budget", 1), ("budget", 0))
    assert replay(method.out).summary == result.summary


def test_a_resumed_process_hears_the_past_and_goes_on(tmp_path: Path) -> None:
    method = Method(tmp_path, GOOD + "\nif t == 2: time.sleep(0.1); sys.exit(1)")
    with pytest.raises(MethodProblem, match="exit code 1"):
        method.run()
    method.notes.unlink()
    method.answers(GOOD.replace("/ 10", "/ 20"))
    result = method.resume(iterations=6)
    assert (result.status, result.summary["T"], result.summary["done"]) == ("finished", 6, 6)
    (start,) = method.told("start")
    assert start["resumed"] == 2
    assert start["budget"]["evaluations"] == 6
    events = [(row["event"], row.get("t")) for row in method.told()]
    assert events[:6] == [
        ("start", None), ("evaluation", 0), ("evaluation", 1), ("evaluation", 2), ("propose", 3),
        ("evaluation", 3),
    ]  # fmt: skip
    assert method.evaluator.evaluated[1:] == [
        "VALUE = 0.1", "VALUE = 0.2", "VALUE = 0.15", "VALUE = 0.2", "VALUE = 0.25", "VALUE = 0.3"
    ]  # fmt: skip
    assert replay(method.out).summary == result.summary


def test_a_kill_after_every_event_asks_and_evaluates_nothing_twice(tmp_path: Path) -> None:
    method = Method(tmp_path, GOOD)
    method.run()
    expected = [record["child"] for record in read_trace(method.out)]
    lines = (method.out / FILE_NAME).read_bytes().splitlines(keepends=True)
    names = [event.name for event in read_journal(method.out)]
    for kept in range(1, len(lines)):
        folder = tmp_path / f"cut{kept}"
        folder.mkdir()
        (folder / FILE_NAME).write_bytes(b"".join(lines[:kept]))
        (folder / "blobs").symlink_to(method.out / "blobs")
        evaluator = LocalEvaluator()
        method.notes.unlink(missing_ok=True)
        resume(folder, clients=Clients(evaluator=evaluator))
        assert [record["child"] for record in read_trace(folder)] == expected
        assert len(evaluator.evaluated) == names[kept:].count("evaluation")
        asked = len(method.told("propose")) if method.notes.exists() else 0
        assert asked == names[kept:].count("sample"), f"after event {kept} ({names[kept - 1]})"


def alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def gone(pid: int) -> bool:
    """Whether a process ends within some seconds."""
    deadline = time.monotonic() + 20
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pid)


def test_its_children_end_with_the_run(tmp_path: Path) -> None:
    method = Method(
        tmp_path,
        'child = subprocess.Popen(["sleep", "600"])\n'
        'note(json.dumps({"event": "child", "pid": child.pid}))\n' + GOOD,
        iterations=2,
    )
    method.run()
    children = [row["pid"] for row in method.told("child")]
    assert len(children) == 2
    assert all(gone(pid) for pid in children)


def test_a_process_that_does_not_leave_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external, "LEAVE_S", 0.2)
    method = Method(tmp_path, GOOD, iterations=1)
    text = method.script.read_text().replace(
        "        break\n", '        note(json.dumps({"event": "pid", "pid": os.getpid()}))\n'
        "        time.sleep(600)\n"
    )  # fmt: skip
    method.script.write_text(
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + text
    )
    assert method.run().status == "finished"
    (row,) = method.told("pid")
    assert gone(row["pid"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_exits_75_and_leaves_no_process(tmp_path: Path, number: int) -> None:
    script, seen = tmp_path / "silent.py", tmp_path / "pid"
    script.write_text(
        "import os, sys, time\nfor line in sys.stdin:\n    if '\"propose\"' in line:\n"
        f"        open({str(seen)!r}, 'w').write(str(os.getpid()))\n        time.sleep(600)\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-m", "benchmark.cli", "run", "--task", "cp26", "--command",
         f"{sys.executable} {script}", "--out", str(tmp_path / "run")],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not (seen.exists() and seen.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    pid = int(seen.read_text())
    os.kill(running.pid, number)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 75, said
    assert "evoduet resume" in said
    assert gone(pid)
    assert summarise(tmp_path / "run")["status"] == "interrupted"


def test_keys_of_the_environment_are_kept_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-very-secret-value-0123456789"
    monkeypatch.setenv("SOME_API_KEY", key)
    method = Method(
        tmp_path,
        'key = os.environ["SOME_API_KEY"]\n'
        "sys.stderr.write(f'using {key}\\n' * 3000 + key); sys.stderr.flush()\n"
        'say(program=f"# {key}\\nVALUE = 0.5", changes=f"with {key}")\n'
        'if t == 2: sys.stderr.write("\\n" + key); sys.exit(1)',
    )
    with pytest.raises(MethodProblem, match="exit code 1") as failure:
        method.run()
    assert key not in str(failure.value)
    texts = [path.read_text() for path in method.out.rglob("*") if path.is_file()]
    assert any("[redacted]" in text for text in texts)
    assert not any(key in text for text in texts)
    assert "using [redacted]" in (method.out / "method.log").read_text()
    given = make_config(None, task="cp26", command=["python", "x.py", "--key", key])
    with pytest.raises(ConfigProblem, match="let it read the key there"):
        run(given, tmp_path / "other")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"command": "no-such-program-anywhere x"}, "no such program on the PATH"),
        ({"command": ""}, "command: names no program"),
        ({"method": "evoduet"}, "'evoduet' cannot name an external process"),
        ({"method": "a b"}, "cannot name an external process"),
        ({"rounds": 2}, "rounds: has no effect on mine"),
        ({"candidates": 8}, "candidates: has no effect on mine"),
        ({"presets": ["as-released"]}, "has no effect on mine"),
    ],
)
def test_what_cannot_be_run_leaves_no_folder(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    given = {"task": "cp26", "command": "python x.py", "method": "mine", **options}
    with pytest.raises(ConfigProblem, match=message):
        run(make_config(None, **given), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_time_limit_of_an_evaluation_is_a_setting(tmp_path: Path) -> None:
    method = Method(
        tmp_path,
        'say(program="import time\\n\\ndef run_code():\\n    time.sleep(60)\\n")',
        iterations=1,
        eval_wall_s=2.5,
    )
    run(method.config, method.out)  # in the sandbox
    assert method.told("start")[0]["limits"]["wall_s"] == 2.5
    seed, slept = method.told("evaluation")
    assert (seed["status"], slept["status"], slept["search_score"]) == ("ok", "timeout", None)
    assert seed["objective"] == pytest.approx(1.3903167444732365)


def test_an_invalid_seed_starts_no_process(tmp_path: Path) -> None:
    method = Method(tmp_path, GOOD)
    method.evaluator = LocalEvaluator(x0_valid=False)
    with pytest.raises(InvalidSeed, match="no number"):
        method.run()
    assert not method.notes.exists()
