"""Calling a program's functions inside a sandbox of each backend."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sandboxes import Caller, SessionMaker

from benchmark.evaluator import Call, Crashed, Invalid, OutOfMemory, TimedOut
from benchmark.sandbox import policy
from benchmark.sandbox.session import MAX_SOURCE_BYTES, Session, read_source

BURN = """
import os, time
def burn(seconds):
    start = time.process_time()
    while time.process_time() - start < seconds:
        pass
"""


def test_calls_share_one_fresh_process(call: Caller) -> None:
    text = """
seen = []
def add(x):
    seen.append(x)
    return seen
def size():
    return len(seen)
"""
    calls = [Call("add", [1.5]), Call("add", ["b"]), Call("size")]
    assert call(text, calls) == [[1.5], [1.5, "b"], 2]
    assert call(text, calls[1:]) == [["b"], 1]
    again = "answer = []\ndef run(x):\n    answer[:] = [x]\n    return answer"
    assert call(again, [Call("run", [1]), Call("run", [2])]) == [[1], [2]]


def test_values_travel_both_ways(call: Caller) -> None:
    array = np.arange(6.0).reshape(2, 3)
    answer = call(
        "def run(a, payload):\n    return a * 2, payload, type(a).__name__",
        [Call("run", [array, {"k": [1, None, True], "x": np.array([1], dtype=np.int8)}])],
    )
    np.testing.assert_array_equal(answer[0], array * 2)
    assert answer[1]["k"] == [1, None, True]
    assert answer[1]["x"].dtype == np.int8
    assert answer[2] == "ndarray"


def test_builtins_seed_and_modules(call: Caller, tmp_path: Path) -> None:
    folder = tmp_path / "shown"
    folder.mkdir()
    (folder / "orbit_helper.py").write_text("ANSWER = 42\n")
    text = (
        "import random, orbit_helper\n"
        "def run():\n    return [BEST, random.random(), orbit_helper.ANSWER, __file__, __name__]"
    )
    tmp_path.chmod(0o755)
    answer = call(text, builtins={"BEST": [1, 2]}, random_seed=0, visible=[folder])
    assert answer[:3] == [[1, 2], 0.8444218515250481, 42]
    assert answer[3].endswith("/candidate.py")
    assert answer[4] == "candidate"


def test_the_process_is_bare(call: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVODUET_TEST_API_KEY", "secret")
    read_end, write_end = os.pipe()
    os.set_inheritable(read_end, True)
    os.set_inheritable(write_end, True)
    text = """
import os, sys
def run():
    open_ones = []
    for fd in range(64):
        try:
            os.fstat(fd)
            open_ones.append(fd)
        except OSError:
            pass
    return {"env": dict(os.environ), "fds": open_ones, "argv": sys.argv, "cwd": os.getcwd(),
            "files": os.listdir("."), "stdin": sys.stdin.read(), "path": sys.path}
"""
    try:
        bare = call(text)
    finally:
        os.close(read_end)
        os.close(write_end)
    assert len(bare["fds"]) == 4  # stdin, stdout, stderr and the result pipe
    # Libraries below /tmp are shown at their own path, so the way to them is there as well.
    shown = [path for path in policy.visible().paths if path.is_relative_to(bare["cwd"])]
    ways = {path.relative_to(bare["cwd"]).parts[0] for path in shown}
    assert set(bare["files"]) - ways == {"candidate.py"}
    assert bare["argv"] == [f"{bare['cwd']}/candidate.py"]
    assert bare["stdin"] == ""
    assert "secret" not in str(bare)
    assert bare["env"]["HOME"] == bare["env"]["TMPDIR"] == bare["cwd"]
    assert bare["env"]["OMP_NUM_THREADS"] == "1"
    assert not [entry for entry in bare["path"] if entry.endswith(("inside", "main"))]


def test_what_is_printed_is_kept_at_its_end(call: Caller) -> None:
    text = (
        "import sys\n"
        "def run():\n"
        "    for i in range(10000):\n        print(i)\n"
        "    print('warning', file=sys.stderr)\n"
    )
    call(text)
    account = call.account
    assert account.stdout_tail.endswith("9998\n9999\n")
    assert len(account.stdout_tail) <= 4096
    assert account.stderr_tail == "warning\n"


@pytest.mark.parametrize(
    ("text", "failure", "reason"),
    [
        ("def run():\n  raise ValueError('a\\nb')", Crashed, r"^ValueError: a b \(line 2\)$"),
        ("def run(:", Crashed, r"^SyntaxError: .* \(line 1\)$"),
        ("import os\nos._exit(3)", Crashed, "^exited with status 3 before it returned$"),
        ("import os\nos.kill(os.getpid(), 9)", Crashed, "^killed by SIGKILL before it returned$"),
        ("import ctypes\nctypes.string_at(0)", Crashed, "^killed by SIGSEGV before it returned$"),
        ("raise KeyboardInterrupt", Crashed, "^KeyboardInterrupt"),
        ("def run():\n    raise SystemExit(0)", Crashed, "^exited before returning$"),
        ("def run():\n    raise MemoryError", OutOfMemory, "^MemoryError$"),
        ("def other():\n    pass", Invalid, r"^the program defines no function run\(\)$"),
        ("def run(argument):\n    pass", Crashed, "^TypeError: .*missing 1 required"),
        ("import no_such_module", Crashed, "^ModuleNotFoundError: No module named"),
    ],
)  # fmt: skip
def test_failures_say_what_happened(
    call: Caller, text: str, failure: type[Exception], reason: str
) -> None:
    with pytest.raises(failure, match=reason):
        call(text)


def test_programs_that_are_no_text(tmp_path: Path, make_session: SessionMaker) -> None:
    program = tmp_path / "program.py"
    program.write_bytes(b"\xff\xfe")
    with pytest.raises(Invalid, match="not UTF-8"):
        make_session().call(program, [Call("run")])
    program.write_bytes(b"#" * (MAX_SOURCE_BYTES + 1))
    with pytest.raises(Invalid, match="larger than 8 MiB"):
        read_source(program)
    program.write_bytes(b"\xef\xbb\xbfx = 1")
    assert read_source(program) == "x = 1"


def test_wall_time_ends_sleepers(call: Caller) -> None:
    with pytest.raises(TimedOut, match=r"took more than 0\.5 s"):
        call("import time\ndef run():\n    time.sleep(60)", wall_s=0.5)
    assert 0.5 <= call.account.wall_s < 10


def test_idle_time_ends_sleepers_early(call: Caller) -> None:
    with pytest.raises(TimedOut, match=r"slept for 0\.4 s"):
        call("import time\ndef run():\n    time.sleep(60)", idle_s=0.4)


def test_cpu_time_is_summed_over_processes(call: Caller) -> None:
    text = BURN + "def run():\n    os.fork()\n    burn(30)"
    with pytest.raises(TimedOut, match=r"more than 0\.6 s of CPU time"):
        call(text, cpu_s=0.6)
    assert 0.6 <= call.account.cpu_s < 3.0


@pytest.mark.parametrize(
    "leave",
    ["for pid in pids: os.waitpid(pid, 0)", "time.sleep(60)", "signal.pause()"],
    ids=["collected", "running", "ignored"],
)
def test_the_account_knows_workers(call: Caller, leave: str) -> None:
    """Two workers of 0.4 s each: collected by their parent, still there at the end, or never
    accounted to anybody because the parent ignores that they ended."""
    text = (
        BURN
        + f"""
import signal
def run():
    if {leave.startswith("signal")}:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    pids = []
    for _ in range(2):
        pid = os.fork()
        if pid == 0:
            burn(0.4)
            if {leave.startswith("time")}:
                time.sleep(60)
            os._exit(0)
        pids.append(pid)
    {leave}
"""
    )
    waits = not leave.startswith("for")
    if waits:
        with pytest.raises(TimedOut):
            call(text, idle_s=1.5)
    else:
        call(text)
    # Of processes that nobody collects, the account has what the last look saw.
    least = 0.4 if leave.startswith("signal") else 0.7
    assert least <= call.account.cpu_s < 2.0


def test_memory_of_one_and_of_all(call: Caller) -> None:
    with pytest.raises(OutOfMemory):
        call("def run():\n    return len(bytearray(10**9))", memory_mb=256)
    text = """
import os, time
def run():
    for _ in range(4):
        if os.fork() == 0:
            hoard = os.urandom(1 << 20) * 100
            time.sleep(60)
    time.sleep(60)
"""
    with pytest.raises(OutOfMemory, match="used more than 256 MB"):
        call(text, memory_mb=256)


def test_peak_memory_is_measured(call: Caller) -> None:
    call("def run():\n    return len(bytearray(os_bytes))", builtins={"os_bytes": 200 << 20})
    assert 200 < call.account.peak_mb < 300


def test_processes_are_counted(call: Caller) -> None:
    text = """
import os, time
def run(children, seconds):
    for _ in range(children):
        if os.fork() == 0:
            time.sleep(60)
    time.sleep(seconds)
"""
    with pytest.raises(Crashed, match="more than 3 processes"):
        call(text, [Call("run", [3, 60])], processes=3)
    call(text, [Call("run", [2, 0.3])], processes=3)


def test_threads_are_counted(call: Caller) -> None:
    text = """
import threading, time
def run():
    for _ in range(40):
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    time.sleep(60)
"""
    with pytest.raises(Crashed, match=r"more than 20 threads|can't start new thread"):
        call(text, threads=20)


def test_files_are_counted(call: Caller) -> None:
    with pytest.raises(Crashed, match="Too many open files"):
        call("def run():\n    hoard = [open('candidate.py') for _ in range(100)]", open_files=50)
    text = """
import time
def run():
    for i in range(200):
        open(str(i), "w").close()
    time.sleep(60)
"""
    with pytest.raises(Crashed, match="wrote more than 100 files"):
        call(text, files=100)


def test_output_is_bounded(call: Caller) -> None:
    with pytest.raises(Crashed, match="printed more than 1 MB"):
        call("def run():\n    while True:\n        print('x' * 10000)", output_mb=1)


def test_forked_workers_and_queues_work(call: Caller) -> None:
    text = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
def square(x):
    return x * x
def run():
    with ProcessPoolExecutor(2) as pool:
        first = list(pool.map(square, range(5)))
    with multiprocessing.Pool(2) as pool:
        second = pool.map(square, range(5))
    semaphore = multiprocessing.BoundedSemaphore(2)
    lock = multiprocessing.RLock()
    with semaphore, lock, lock:
        third = [semaphore.get_value(), semaphore.acquire(timeout=0.05), semaphore.acquire(False)]
    semaphore.release()
    try:
        semaphore.release()
    except ValueError:
        third.append("bounded")
    event = multiprocessing.Event()
    child = multiprocessing.Process(target=event.set)
    child.start()
    third.append(event.wait(5))
    child.join()
    return [first, second, third]
"""
    assert call(text) == [[0, 1, 4, 9, 16], [0, 1, 4, 9, 16], [1, True, False, "bounded", True]]


def test_evaluations_run_side_by_side(make_session: SessionMaker, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import time\ndef run(x):\n    time.sleep(0.2)\n    return x")
    answers: dict[int, list[Any]] = {}

    def evaluate(session: Session, number: int) -> None:
        answers[number] = [session.call(program, [Call("run", [number])]) for _ in range(3)]

    sessions = [make_session() for _ in range(4)]
    threads = [
        threading.Thread(target=evaluate, args=(session, number))
        for number, session in enumerate(sessions)
    ]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: [[number]] * 3 for number in range(4)}
    assert time.monotonic() - started < 60
