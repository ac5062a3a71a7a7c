"""Toy solvers of ahc058 under the contest's limits: each gets the verdict that it deserves."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmark.artifact import Artifact
from benchmark.evaluator import Crashed, Invalid, OutOfMemory, TimedOut, Unavailable
from tasks.algorithm_engineering import contest, running
from tasks.algorithm_engineering.ahc058.evaluator import AppleProduction
from tasks.algorithm_engineering.caching import cache_folder
from tasks.algorithm_engineering.cases import artifact_cases
from tasks.algorithm_engineering.running import CaseRun, Profile, run_all

RunProgram = Callable[..., Artifact]

pytestmark = pytest.mark.usefixtures("need_compiler")

HEAD = """
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>
void answer() {
    std::puts("0 0");
    for (int i = 1; i < 500; i++) std::puts("-1");
    std::fflush(stdout);
}
double seconds(clockid_t clock) {
    timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}
void work(double cpu_s) { while (seconds(CLOCK_PROCESS_CPUTIME_ID) < cpu_s); }
"""
SCORE = 896578  # 500 apples


def solver(body: str, more: str = "") -> str:
    return f"{HEAD}{more}\nint main(int argc, char** argv) {{ (void)argc, (void)argv; {body} }}\n"


@pytest.fixture
def verdict(run_program: RunProgram, apples: AppleProduction) -> Any:
    """Runs a solver on one input; its verdict, the reason, and the score if any."""

    def find(source: str, **options: Any) -> tuple[str, str, float | None]:
        artifact = run_program(source, **options)
        (fact,) = artifact.facts["cases"]
        (case,) = apples.case_scores(artifact)
        return fact["verdict"], fact["reason"], case.score

    return find


def test_fixed_answer(verdict: Any) -> None:
    assert verdict(solver("answer();")) == ("OK", "", SCORE)


def test_sleeper(verdict: Any) -> None:
    found = verdict(solver("sleep(20); answer();"), idle_s=1.0)
    assert found == ("TLE", "slept for 1 s without using CPU time", None)


def test_short_sleep_is_allowed(verdict: Any) -> None:
    assert verdict(solver("usleep(300000); answer();"))[2] == SCORE


@pytest.mark.parametrize("last_words", ["", "answer();"])
def test_spinner(verdict: Any, last_words: str) -> None:
    found = verdict(solver(f"{last_words} for (;;) time(nullptr);"))
    assert found == ("TLE", "used more than 2.1 s of CPU time", None)


def test_time_in_the_kernel_counts(verdict: Any) -> None:
    assert verdict(solver("for (;;) getppid();"))[0] == "TLE"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("answer(); std::abort();", "killed by SIGABRT"),
        ("answer(); int* p = nullptr; *(volatile int*)p = 1;", "killed by SIGSEGV"),
        ("answer(); return 3;", "exited with status 3"),
        ("answer(); return 137;", "killed by SIGKILL"),  # as shells tell it
        ("return 127;", "exited with status 127"),
        ("return 1;", "exited with status 1"),
    ],
)
def test_crash_after_answering(verdict: Any, body: str, reason: str) -> None:
    assert verdict(solver(body)) == ("RE", reason, None)


ALLOCATE = """
char* allocate(long reserved_mb, long touched_mb) {
    volatile char* memory = (char*)std::malloc(reserved_mb << 20);
    for (long i = 0; memory && i < touched_mb << 20; i += 4096) memory[i] = 1;
    return (char*)memory;
}
"""


@pytest.mark.parametrize(
    ("reserved", "touched", "expected"),
    [
        (900, 900, ("OK", "")),
        (1500, 100, ("OK", "")),
        (1100, 1100, ("MLE", "used more than 1024 MB")),
        (2200, 0, ("RE", "exited with status 9")),  # more than there are addresses
    ],
)
def test_allocating(verdict: Any, reserved: int, touched: int, expected: tuple[str, str]) -> None:
    body = f"if (!allocate({reserved}, {touched})) return 9; answer();"
    assert verdict(solver(body, ALLOCATE))[:2] == expected


def test_deep_recursion(verdict: Any) -> None:
    more = """
        int deep(int n) {
            volatile char frame[1 << 20];
            frame[n] = 1;
            return n ? deep(n - 1) + frame[n] : 0;
        }"""
    assert verdict(solver("if (deep(500)) answer();", more))[2] == SCORE


def test_flood(verdict: Any) -> None:
    found = verdict(solver('for (;;) std::puts("0123456789012345678901234567890123456789");'))
    assert found == ("RE", "printed more than 16 MB", None)


def test_many_answers_are_no_flood(verdict: Any) -> None:
    assert verdict(solver("for (int i = 0; i < 2000; i++) answer();"))[2] == SCORE


def test_children_are_forbidden(verdict: Any) -> None:
    body = """
        pid_t child = fork();
        if (child == 0) for (;;);
        answer();
        return child < 0 && errno == EAGAIN ? 0 : 5;"""
    assert verdict(solver(body)) == ("OK", "", SCORE)
    body = 'answer(); return std::system("exit 0") != 0 ? 0 : 5;'
    assert verdict(solver(body)) == ("OK", "", SCORE)


def test_threads_are_forbidden(verdict: Any) -> None:
    more = "#include <thread>"
    found = verdict(solver("std::thread t([] { for (;;); }); t.detach(); answer();", more))
    assert found == ("RE", "killed by SIGABRT", None)


def test_reading_files_of_the_host(verdict: Any, apples: AppleProduction, tmp_path: Path) -> None:
    apples.inputs.text(1)
    secret = tmp_path / "secret"
    secret.write_text("secret")
    hidden = [
        secret,
        cache_folder("inputs", "ahc058") / "1.txt",
        Path(running.__file__),
        Path("/etc/passwd"),
    ]
    assert all(path.is_file() for path in hidden)
    tests = "".join(f'if (std::fopen("{path}", "r")) return 7;' for path in hidden)
    assert verdict(solver(f"{tests} answer();")) == ("OK", "", SCORE)


def test_nothing_is_kept_between_cases(run_program: RunProgram, apples: AppleProduction) -> None:
    body = """
        if (std::fopen("mark", "r")) return 4;
        if (!std::fopen("mark", "w")) return 5;
        answer();"""
    artifact = run_program(solver(body), range(4))
    assert [case.score for case in apples.case_scores(artifact)] == [SCORE] * 4


def test_environment_and_arguments(verdict: Any) -> None:
    body = """
        if (argc != 2 || std::strcmp(argv[1], "2.0")) return 8;
        for (char** e = environ; *e; e++)
            if (std::strncmp(*e, "PATH=", 5) && std::strncmp(*e, "LANG=", 5) &&
                std::strncmp(*e, "LD_PRELOAD=", 11)) return 9;
        answer();"""
    assert verdict(solver(body))[2] == SCORE
    assert (
        verdict(solver('std::getenv("LD_PRELOAD") ? (void)0 : answer();'), clock="wall")[2] == SCORE
    )


def test_the_input_comes_without_a_name(verdict: Any) -> None:
    """Neither another input beside it, nor a file that a program could change for later ones."""
    body = """
        char path[500] = "";
        readlink("/proc/self/fd/0", path, sizeof path - 1);
        if (std::strstr(path, ".txt")) return 6;
        if (write(0, "x", 1) > 0 || ftruncate(0, 0) == 0) return 7;
        answer();"""
    assert verdict(solver(body))[2] == SCORE


def test_each_case_gets_its_own_input(run_program: RunProgram, apples: AppleProduction) -> None:
    body = """
        int c;
        std::fputs("#", stdout);
        while ((c = std::getchar()) != EOF) std::putchar(c == 10 ? '_' : c);
        std::puts("");
        answer();"""
    artifact = run_program(solver(body), range(20))
    for seed, output in artifact_cases(artifact.data):
        assert output is not None
        echo = output.splitlines()[0]
        assert echo == "#" + apples.inputs.text(seed).decode().replace("\n", "_")
    assert {case.score for case in apples.case_scores(artifact)} == {SCORE}


@pytest.mark.parametrize(
    ("cpu_s", "limits", "expected"),
    [
        (1.9, "official", "OK"),
        (2.4, "official", "TLE"),
        (2.6, "compat", "OK"),
        (3.4, "compat", "TLE"),
    ],
)
def test_time_limits(verdict: Any, cpu_s: float, limits: str, expected: str) -> None:
    found, _, score = verdict(solver(f"answer(); work({cpu_s});"), limits=limits)
    assert (found, score) == (expected, SCORE if expected == "OK" else None)


def test_compat_ignores_exit_status_and_memory(verdict: Any) -> None:
    assert verdict(solver("answer(); std::abort();"), limits="compat") == ("OK", "", SCORE)
    body = "allocate(1200, 1060); answer();"
    assert verdict(solver(body, ALLOCATE), limits="compat") == ("OK", "", SCORE)


def test_compat_wall_time(verdict: Any) -> None:
    slow = solver("usleep(4800000); answer();")
    found = verdict(slow, limits="compat", clock="wall")
    assert found == ("TLE", "took more than 4.5 s", None)
    assert verdict(slow, limits="compat", idle_s=30.0)[2] == SCORE


CLOCKS = """
#include <chrono>
#include <sys/time.h>
template <class C> double now() {
    return std::chrono::duration<double>(C::now().time_since_epoch()).count();
}
double day() { timeval t; gettimeofday(&t, nullptr); return t.tv_sec + t.tv_usec * 1e-6; }
"""
MEASURE = """
    double a = now<std::chrono::steady_clock>(), b = now<std::chrono::system_clock>();
    double c = day(), d = seconds(CLOCK_MONOTONIC_COARSE), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double last = a;
    usleep(200000);
    while (now<std::chrono::steady_clock>() < a + 0.8) {
        if (now<std::chrono::steady_clock>() < last) return 2;  // never backwards
        last = now<std::chrono::steady_clock>();
    }
    used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
    for (double gone : {now<std::chrono::steady_clock>() - a, now<std::chrono::system_clock>() - b,
                        day() - c, seconds(CLOCK_MONOTONIC_COARSE) - d})
        if (gone < used - 0.02 || gone > used + 0.02) return 3;
    if (used < 0.78 || used > 0.82) return 4;
    if (std::abs((double)time(nullptr) - b) > 2.0) return 5;
    answer();"""


def test_the_cpu_clock(verdict: Any) -> None:
    assert verdict(solver(MEASURE, CLOCKS)) == ("OK", "", SCORE)


def test_the_cpu_clock_can_be_left_out(verdict: Any) -> None:
    """Under the real clock the sleep is part of the time that passes."""
    assert verdict(solver(MEASURE, CLOCKS), clock="wall") == ("RE", "exited with status 3", None)


@contextmanager
def busy_cores() -> Iterator[None]:
    """Two spinning processes for each core."""
    spinners = [
        subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"])
        for _ in range(2 * len(os.sched_getaffinity(0)))
    ]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


@pytest.mark.slow
def test_load_changes_nothing(run_program: RunProgram, apples: AppleProduction) -> None:
    """Verdicts and answers of programs that look at the clock, idle and with all cores busy."""
    full = """
        double a = seconds(CLOCK_MONOTONIC);
        while (seconds(CLOCK_MONOTONIC) < a + 1.9);
        answer();"""
    late = full.replace("1.9", "2.4")
    # How many tenths of a second of work fit into the time: an annealer's steps, so to speak.
    paced = """
        double a = seconds(CLOCK_MONOTONIC);
        int n = 0;
        for (; seconds(CLOCK_MONOTONIC) < a + 0.95; n++) work(0.1 * (n + 1));
        for (int i = 0; i < 500; i++) std::puts(i == n ? "0 0" : "-1");"""

    def outcome() -> list[Any]:
        found = []
        for body in (full, late, paced):
            artifact = run_program(solver(body), range(2))
            found.append([case["verdict"] for case in artifact.facts["cases"]])
            found.append([case.score for case in apples.case_scores(artifact)])
        return found

    idle = outcome()
    with busy_cores():
        busy = outcome()
    assert busy == idle
    assert idle[0] == ["OK", "OK"]
    assert idle[2] == ["TLE", "TLE"]
    assert idle[5][0] == idle[5][1] is not None


def test_facts_are_those_of_the_parent(run_program: RunProgram) -> None:
    artifact = run_program(solver("work(0.3); answer();"), range(3))
    facts = artifact.facts
    assert facts["clock"] == "cpu"
    assert facts["limits"] == "official"
    assert "g++" in facts["compiler"]
    assert [case["seed"] for case in facts["cases"]] == [0, 1, 2]
    for case in facts["cases"]:
        assert case["verdict"] == "OK"
        assert 0.28 <= case["cpu_s"] <= 0.3 + running.TOLERANCE_S
        assert case["wall_s"] >= 0.3
        assert "stdout" not in case


@pytest.mark.parametrize(
    ("body", "failure", "reason"),
    [
        ("return 1;", Crashed, "no case is valid; the first: RE: exited with status 1"),
        ("work(9);", TimedOut, "TLE: used more than 2.1 s of CPU time"),
        ("allocate(1200, 1060); answer();", OutOfMemory, "MLE: used more than 1024 MB"),
        ('std::puts("-1\\xff");', Invalid, "WA: the output is not UTF-8 text"),
        ('std::puts("nonsense");', Invalid, "WA: turn 0: 'nonsense' is no level"),
    ],
)
def test_a_run_without_any_valid_case_fails(
    run_program: RunProgram, apples: AppleProduction, body: str, failure: type, reason: str
) -> None:
    with pytest.raises(failure, match=reason):
        apples.score(run_program(solver(body, ALLOCATE), range(2)), "search")


def test_one_failed_case_makes_the_total_zero(
    run_program: RunProgram, apples: AppleProduction
) -> None:
    odd = "char line[99]; std::fgets(line, 99, stdin); std::fgets(line, 99, stdin); "
    odd += "unsigned h = 0; for (char* c = line; *c; c++) h = 31 * h + *c; answer(); return h % 2;"
    artifact = run_program(solver(odd), range(6))
    verdicts = [case["verdict"] for case in artifact.facts["cases"]]
    assert {*verdicts} == {"OK", "RE"}
    score = apples.score(artifact, "search")
    assert score.search == score.objective == 0.0
    assert score.metrics["failed_cases"] == verdicts.count("RE")
    assert score.metrics["mean_valid_case"] == SCORE
    assert "RE: exited with status 1" in score.feedback
    assert f"\n{verdicts.index('RE')} RE: exited with status 1" in score.attachments["cases"]


def test_output_of_all_cases_is_bounded(
    run_program: RunProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contest, "MAX_OUTPUT_MB", 1)
    body = "for (int i = 0; i < 200; i++) answer();"  # 300 kB
    run_program(solver(body), range(3))
    with pytest.raises(Invalid, match="printed more than 1 MB over all cases"):
        run_program(solver(body), range(4))


def test_workers() -> None:
    assert [Profile.choose("official", "cpu").workers(n) for n in (1, 2, 8)] == [1, 2, 8]
    assert [Profile.choose("official", "wall").workers(n) for n in (1, 2, 8)] == [1, 1, 7]


def test_a_hopeless_run_is_cut_short() -> None:
    ran = []

    def run(seed: int) -> CaseRun:
        ran.append(seed)
        return CaseRun(seed, "OK", b"") if seed == 104 else CaseRun(seed, "RE", reason="no")

    results = run_all(run, range(100, 250), cores=[0, 0, 0])
    assert [result.seed for result in results] == list(range(100, 250))
    assert [result.verdict for result in results[:12]] == ["RE"] * 4 + ["OK"] + ["RE"] * 6 + ["--"]
    assert {result.verdict for result in results[11:]} == {"--"}
    assert results[11].reason == "not run after 10 failed cases"
    assert len(ran) < 20


def test_cases_are_spread_and_pinned() -> None:
    available = sorted(os.sched_getaffinity(0))
    seen: dict[int, set[int]] = {}
    together = threading.Barrier(len(available), timeout=60)

    def run(seed: int) -> CaseRun:
        together.wait()
        seen.setdefault(threading.get_ident(), set()).update(os.sched_getaffinity(0))
        return CaseRun(seed, "OK", b"")

    run_all(run, range(3 * len(available)), available)
    assert sorted(tuple(cores) for cores in seen.values()) == [(core,) for core in available]
    assert sorted(os.sched_getaffinity(0)) == available


def test_a_broken_machine_is_not_the_program_s_fault() -> None:
    def run(seed: int) -> CaseRun:
        if seed == 3:
            raise Unavailable("no input")
        time.sleep(0.01)
        return CaseRun(seed, "OK", b"")

    with pytest.raises(Unavailable, match="no input"):
        run_all(run, range(50), cores=[0, 0])
