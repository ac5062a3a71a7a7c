"""Policies that break, hang, spy or forge: each gets its verdict, and nothing else happens."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark import Artifact, Invalid, Score
from benchmark.catalogue import find_task
from benchmark.evaluation import load_evaluator, prepare
from benchmark.evaluator import BuildFailed, Crashed, TimedOut, Unavailable
from benchmark.harness import Harness
from benchmark.sandbox.session import Session
from tasks.quantum_compilation.swap_reduction import block, building, routing, toolchain
from tasks.quantum_compilation.swap_reduction.build_cache import BuildCache
from tasks.quantum_compilation.swap_reduction.embedded import embedded_suite
from tasks.quantum_compilation.swap_reduction.evaluator import SwapReduction

sys.path.insert(0, str(Path(__file__).parent))
import routing_policies as policies

CASES = ("toffoli_5_q20", "adder_4_q20")


@pytest.fixture
def evaluator(no_data: None) -> SwapReduction:
    """The task with two small cases."""
    made = load_evaluator(prepare("swap_reduction", "embedded"))
    assert isinstance(made, SwapReduction)
    suite = embedded_suite()
    cases = [case for case in suite.cases if case.id in CASES]
    made.__dict__["suite"] = replace(suite, cases=cases)
    return made


@pytest.fixture
def session(harness: Harness) -> Session:
    return harness.session(find_task("swap_reduction").limits)


Judge = Callable[[str, str], tuple[Artifact, Score]]


@pytest.fixture
def judge(evaluator: SwapReduction, session: Session, tmp_path: Path) -> Judge:
    """Produce and score a program given as text."""

    def judged(source: str, suffix: str) -> tuple[Artifact, Score]:
        program = tmp_path / f"program{suffix}"
        program.write_text(source)
        artifact = evaluator.produce(program, session, "search")
        return artifact, evaluator.score(artifact, "search")

    return judged


@pytest.fixture
def no_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rules about the source, so that what stands behind them is tried."""
    monkeypatch.setattr(block, "broken_rule", lambda tokens: None)


# Rust, at build time


@pytest.mark.parametrize(
    "extra",
    [
        'const SECRET: &str = include_str!("/etc/passwd");',
        'const SECRET: &[u8] = include_bytes!("../../../../../etc/shadow");',
        "pub fn f() { unsafe { std::hint::unreachable_unchecked() } }",
        '#[path = "/etc/passwd"] mod secret;',
        "extern crate proc_macro;",
        "use std::{collections::BTreeMap, fs::File};",
    ],
)
def test_forbidden_sources_are_not_even_built(judge: Judge, extra: str) -> None:
    with pytest.raises(Invalid, match="a policy"):
        judge(policies.rust_policy("None", extra=extra), ".rs")


@pytest.mark.parametrize(
    "program",
    [
        '[package]\nname = "router"\nversion = "0.1.0"\nbuild = "build.rs"\n',
        'fn main() { std::process::Command::new("sh").spawn(); }',
        '[lib]\nproc-macro = true\n[dependencies]\nother = { path = "/work" }\n',
    ],
)
def test_a_program_brings_no_build_of_its_own(judge: Judge, program: str) -> None:
    with pytest.raises(Invalid, match="EVOLVE-BLOCK-START"):
        judge(program, ".rs")
    manifests = [c for n, c in building.crate_files().items() if n.endswith("Cargo.toml")]
    assert len(manifests) == 5
    assert not any(b"build" in c.split(b"[package]")[1] or b"proc-macro" in c for c in manifests)
    assert not any(name.endswith("build.rs") for name in building.crate_files())


def host_file(tmp_path: Path) -> Path:
    """A file of the host that only this user should see."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the answer")
    return secret


def test_the_compiler_sees_no_file_of_the_host(
    rust: None, no_rules: None, judge: Judge, tmp_path: Path
) -> None:
    secret = host_file(tmp_path)
    for place in (secret, policies.TASK / "data" / "suite.json", Path(__file__)):
        assert place.is_file()
        source = policies.rust_policy("None", extra=f'const S: &str = include_str!("{place}");')
        with pytest.raises(BuildFailed, match="couldn't read"):
            judge(source, ".rs")


def test_unsafe_code_is_refused_by_the_compiler_too(
    rust: None, no_rules: None, judge: Judge
) -> None:
    for extra in (
        "#[allow(unsafe_code)] pub fn f() { unsafe { std::hint::unreachable_unchecked() } }",
        '#[no_mangle] pub extern "C" fn getrandom() {}',
    ):
        with pytest.raises(BuildFailed) as caught:
            judge(policies.rust_policy("None", extra=extra), ".rs")
        assert "unsafe_code" in str(caught.value) + caught.value.attachments["compiler"]


def test_compiler_errors_name_the_line_of_the_block(rust: None, judge: Judge) -> None:
    source = policies.rust_policy("None", extra='\npub fn f() -> usize { "text" }')
    lines = source.split("EVOLVE-BLOCK-START\n")[1].split("\n")
    line = next(number for number, text in enumerate(lines, 1) if '"text"' in text)
    with pytest.raises(
        BuildFailed, match=rf"mismatched types \(line {line} of the block\)"
    ) as found:
        judge(source, ".rs")
    said = found.value.attachments["compiler"]
    assert "src/candidate.rs" in said
    assert "/tmp" not in said
    for extra in ("pub struct RngState;", "use std::collections::HashMap;"):
        with pytest.raises(BuildFailed, match="defined multiple times"):
            judge(policies.rust_policy("None", extra=extra), ".rs")


DOUBLING_MACRO = """
macro_rules! double { ($($x:tt)*) => { double!($($x)* $($x)*) } }
pub fn f() { double!(x x x x) }
"""
ENDLESS_CONSTANT = """
#[allow(long_running_const_eval)]
pub const N: usize = { let mut i = 0; while i < 1 << 60 { i += 1; } i };
pub fn g() -> usize { N }
"""


@pytest.mark.slow
def test_a_build_that_never_ends_is_ended(
    rust: None, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "BUILD_S", 8.0)
    with pytest.raises(BuildFailed, match=r"the compiler (took|used) more than"):
        judge(policies.rust_policy("None", extra=ENDLESS_CONSTANT), ".rs")


def test_macros_that_double_for_ever_do_not_build(rust: None, judge: Judge) -> None:
    with pytest.raises(BuildFailed):
        judge(policies.rust_policy("None", extra=DOUBLING_MACRO), ".rs")


# Rust, at run time


def test_a_policy_that_panics_fails_its_case_alone(rust: None, judge: Judge) -> None:
    layout = """if ctx.circuit().used_logical_qubits().len() == 5 { panic!("five {}", 5); }
        Ok((0..ctx.circuit().num_logical_qubits()).collect())"""
    artifact, score = judge(policies.rust_policy("None", layout), ".rs")
    assert score.objective is None
    assert score.metrics["cases_failed"] == 1
    assert (
        "toffoli_5_q20: routing: the policy panicked: five 5" in (score.attachments["failed cases"])
    )
    statuses = {name: fact["status"] for name, fact in artifact.facts["cases"].items()}
    assert statuses == {"toffoli_5_q20": "failed", "adder_4_q20": "ok"}


@pytest.mark.parametrize(
    ("swap", "said"),
    [
        ('let n: usize = "x".parse().unwrap(); Some((n, n))', "panicked"),
        ("Some((0, 19))", "all runs failed: routing: choose_best_swap: 0 and 19 are not coupled"),
        ("Some((usize::MAX, 0))", "are not coupled"),
        ("fn deep(n: u64) -> u64 { std::hint::black_box(1 + deep(std::hint::black_box(n + 1))) } "
         "Some((deep(0) as usize, 0))", "killed by SIG(ABRT|SEGV)"),
        ("println!(\"{{}}\"); loop { println!(\"{:1000}\", 0); }", "printed more than"),
    ],
)  # fmt: skip
def test_policies_that_fail_everywhere_are_invalid(
    rust: None, judge: Judge, swap: str, said: str
) -> None:
    with pytest.raises(Invalid, match=f"every case failed.*{said}"):
        judge(policies.rust_policy(swap), ".rs")


def test_a_policy_that_takes_all_memory_fails(rust: None, judge: Judge) -> None:
    swap = "let mut all = Vec::new(); loop { all.push(vec![1u8; 1 << 20]); }"
    with pytest.raises(Invalid, match=r"every case failed.*(used more than|SIGABRT)"):
        judge(policies.rust_policy(swap), ".rs")


def test_a_policy_that_never_answers_fails_its_case(
    rust: None, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "CASE_S", 2.0)
    layout = """if ctx.circuit().used_logical_qubits().len() == 5 { loop {} }
        Ok((0..ctx.circuit().num_logical_qubits()).collect())"""
    artifact, score = judge(policies.rust_policy("None", layout), ".rs")
    assert artifact.facts["cases"]["toffoli_5_q20"]["status"] == "timeout"
    assert "toffoli_5_q20: took too long" in score.attachments["failed cases"]


def test_all_cases_share_a_budget(
    rust: None, evaluator: SwapReduction, harness: Harness, tmp_path: Path
) -> None:
    program = tmp_path / "endless.rs"
    program.write_text(policies.rust_policy("loop {}"))
    limits = find_task("swap_reduction").limits.changed(wall_s=2.0)
    with pytest.raises(TimedOut, match="all cases together took more than 2 s"):
        evaluator.produce(program, harness.session(limits), "search")


FORGED = r"""
    let _ = std::fs::remove_file("trace.json");
    TRACE
    std::process::exit(0);
"""


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        ('std::fs::write("trace.json", "{\\"initial_layout\\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,'
         '14,15],\\"swaps\\":[],\\"swap_count\\":0}").unwrap();', "gates_left"),
        ('std::fs::write("trace.json", "[".repeat(100000)).unwrap();', "no readable trace"),
        ('std::fs::write("trace.json", "{\\"initial_layout\\":[[[1]]],\\"swaps\\":[]}").unwrap();',
         "no layout with SWAPs"),
        ('std::os::unix::fs::symlink("/etc/passwd", "trace.json").unwrap();', "no readable trace"),
        ('println!("{}", "{\\"initial_layout\\":[],\\"swaps\\":[]}");', "no readable trace"),
    ],
)  # fmt: skip
def test_forged_traces_gain_nothing(
    rust: None, no_rules: None, judge: Judge, trace: str, said: str
) -> None:
    """Even a policy that breaks all rules and writes the router's answer itself."""
    with pytest.raises(Invalid, match=f"every case failed.*{said}"):
        judge(policies.rust_policy(FORGED.replace("TRACE", trace)), ".rs")


def test_a_running_policy_has_no_files_and_no_network(
    rust: None, no_rules: None, judge: Judge, tmp_path: Path
) -> None:
    tries = {
        "read": f'std::fs::read("{host_file(tmp_path)}").is_ok()',
        "list": f'std::fs::read_dir("{Path(__file__).parent}").is_ok()',
        "write": f'std::fs::write("{tmp_path}/new", "x").is_ok()',
        "net": 'std::net::UdpSocket::bind("0:0").and_then(|s| s.connect("1.1.1.1:53")).is_ok()',
    }
    swap = "".join(f'assert!(!({code}), "{name} works");\n' for name, code in tries.items())
    _, score = judge(policies.rust_policy(swap + "None"), ".rs")
    assert score.metrics["cases_failed"] == 0, score.attachments
    assert not (tmp_path / "new").exists()


def test_hash_order_is_the_same_in_every_run(
    rust: None, evaluator: SwapReduction, session: Session
) -> None:
    swap = """let topology = ctx.topology();
        let active = ctx.front_layer().active_physical_qubits();
        let front: HashSet<usize> = active.into_iter().collect();
        let first = *front.iter().next()?;
        let near: HashMap<usize, u8> = topology.neighbors(first).iter().map(|&q| (q, 0)).collect();
        let other = *near.keys().next()?;
        if ctx.swaps_since_progress() > 5 { None } else { Some((first, other)) }"""
    executable = building.build_router(policies.rust_policy(swap), session)

    def traces(hash_seed: int) -> list[Any]:
        router = routing.RustRouter(executable, routing.Trials(2, 2), hash_seed)
        return routing.records(routing.route_suite(router, evaluator.suite, session, 600.0))

    first = traces(0)
    assert all("swaps" in record for record in first)
    assert traces(0) == first
    assert any(traces(seed) != first for seed in (1, 2, 3))


# The toolchain and the cache


def test_without_rust_the_rust_track_is_unavailable(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    toolchain.toolchain.cache_clear()
    try:
        with pytest.raises(Unavailable, match=r"rustc/cargo not found.*install"):
            judge(policies.RUST["none"], ".rs")
        (tmp_path / "rustc").write_text("#!/bin/sh\necho broken >&2; exit 1\n")
        (tmp_path / "rustc").chmod(0o755)
        (tmp_path / "cargo").symlink_to("rustc")
        with pytest.raises(Unavailable, match=r"rustc/cargo not found.*broken"):
            judge(policies.RUST["none"], ".rs")
        _, score = judge(policies.PYTHON["none"], ".py")
        assert score.objective is not None
    finally:
        toolchain.toolchain.cache_clear()


def test_builds_are_kept_and_checked(
    rust: None, session: Session, builds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = building.build_router(policies.RUST["none"], session)
    assert first.is_relative_to(builds)

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("built again")

    monkeypatch.setattr(building, "_compile", refuse)
    assert building.build_router(policies.RUST["none"], session) == first
    with pytest.raises(AssertionError, match="built again"):
        building.build_router(policies.RUST["none"].replace("None", "None // x"), session)


def test_a_damaged_build_is_made_again(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "routers")
    program = cache.keep("key", b"program")
    assert cache.find("key") == program
    assert program.stat().st_mode & 0o111
    program.write_bytes(b"something else")
    assert cache.find("key") is None
    assert cache.keep("key", b"program").read_bytes() == b"program"
    assert cache.find("key") == program
    assert cache.keep("key", b"program") == program
    assert [entry.name for entry in cache.folder.iterdir()] == ["key"]


def test_the_oldest_builds_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    from tasks.quantum_compilation.swap_reduction import build_cache

    monkeypatch.setattr(build_cache, "MAX_BUILDS", 2)
    cache = BuildCache(tmp_path)
    for age, key in ((30, "old"), (20, "middle")):
        cache.keep(key, key.encode())
        os.utime(tmp_path / key, (1e9 - age, 1e9 - age))
    assert cache.find("old") is not None  # which makes it the newest
    cache.keep("new", b"new")
    assert cache.find("middle") is None
    assert cache.find("old") is not None
    assert cache.find("new") is not None


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="XDG_CACHE_HOME"):
        BuildCache(tmp_path / "file" / "routers").keep("key", b"program")


# Python


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def broken(:", "does not load: the policy raised SyntaxError"),
        ("import nothing_of_the_kind", "does not load: .*ModuleNotFoundError"),
        ("x = 1", "defines no CandidatePolicy"),
        ("class CandidatePolicy:\n    def __init__(self, size): pass", "does not load.*TypeError"),
        ("import benchmark", "ModuleNotFoundError"),
        ("from tasks.quantum_compilation import replay", "ModuleNotFoundError"),
    ],
)
def test_python_that_does_not_load(judge: Judge, source: str, said: str) -> None:
    with pytest.raises(Crashed, match=said):
        judge(source, ".py")


@pytest.mark.parametrize(
    ("swap", "said"),
    [
        ("raise ValueError('no idea')", "the policy raised ValueError: no idea"),
        ("return 3", "TypeError"),
        ("return (0, 19)", "all runs failed"),
        ("import os; os._exit(3)", "exited with status 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL"),
        ("import sys; sys.exit(0)", "no readable trace"),
        ("open('trace.json', 'w').write('{\"initial_layout\": [true], \"swaps\": []}')\n"
         "import os; os._exit(0)", "layout_length"),
        ("open('trace.json', 'w').write('{\"initial_layout\": ' + '9' * 10000 + '}')\n"
         "import os; os._exit(0)", "no readable trace"),
        ("open('trace.json', 'w').write('{\"error\": {\"a\\\\u001b\": 1}}')\n"
         "import os; os._exit(0)", "'a"),
        ("import os; os.mkdir('trace.json'); return None", "exited with status 1"),
    ],
)  # fmt: skip
def test_python_that_fails_everywhere(judge: Judge, swap: str, said: str) -> None:
    with pytest.raises(Invalid, match=f"every case failed.*({said})") as caught:
        judge(policies.python_policy(swap), ".py")
    assert str(caught.value).isprintable()


def test_python_that_tampers_with_the_router_fails(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "CASE_S", 3.0)
    tampering = (
        "places = ctx.layout().logical_to_physical()\nplaces[0], places[1] = places[1], places[0]",
        "import swap_router.run as run\nrun.Run._is_adjacent = lambda self, node: True",
        "ctx.front_layer()._pairs.clear()",
    )
    for code in tampering:
        with pytest.raises(Invalid, match="every case failed"):
            judge(policies.python_policy(f"{code}\nreturn ctx.topology().edges()[0]"), ".py")


def test_python_has_no_files_of_the_host(judge: Judge, tmp_path: Path) -> None:
    places = [str(host_file(tmp_path)), str(Path(__file__)), str(policies.TASK / "data")]
    swap = f"import os\nassert not any(map(os.path.exists, {places})), 'seen'\nreturn None"
    _, score = judge(policies.python_policy(swap), ".py")
    assert score.metrics["cases_failed"] == 0, score.attachments
