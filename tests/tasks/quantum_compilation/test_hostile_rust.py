"""Policies in Rust that break, hang, spy or forge: each gets its verdict, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import routing_policies as policies
from routing_policies import Judge
from sandboxes import launcher_of

from benchmark import Invalid
from benchmark.catalogue import find_task
from benchmark.evaluator import BuildFailed, TimedOut
from benchmark.harness import Harness
from benchmark.sandbox.session import Session
from tasks.quantum_compilation.swap_reduction import building, routing
from tasks.quantum_compilation.swap_reduction.embedded import embedded_suite
from tasks.quantum_compilation.swap_reduction.evaluator import SwapReduction

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


def test_the_compiler_sees_no_file_of_the_host(
    rust: None, no_rules: None, judge: Judge, host_file: Path
) -> None:
    for place in (host_file, policies.TASK / "data" / "suite.json", Path(__file__)):
        assert place.is_file()
        source = policies.rust_policy("None", extra=f'const S: &str = include_str!("{place}");')
        with pytest.raises(BuildFailed, match="couldn't read"):
            judge(source, ".rs")


def test_builds_and_runs_without_namespaces(
    rust: None, embedded: SwapReduction, tmp_path: Path
) -> None:
    """Also where the toolchain lies in a home that only root may enter."""
    launcher_of("process")
    embedded.__dict__["suite"] = policies.shortened(embedded_suite(), ["toffoli_5_q20"])
    program = tmp_path / "policy.rs"
    program.write_text(policies.rust_policy("None", extra="pub const APART: u8 = 1;"))
    with Harness(isolation="process") as harness:
        session = harness.session(find_task("swap_reduction").limits)
        score = embedded.score(embedded.produce(program, session, "search"), "search")
    assert score.metrics["cases_failed"] == 0


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


FAILURES = {
    "toffoli_5_q20": (r'panic!("five {}", 5);', "failed", "the policy panicked: five 5"),
    "toffoli_7_q20": ('let n: usize = "x".parse().unwrap();', "failed", "panicked: called"),
    "fourier_8_q20": ("return Ok(vec![0; 16]);", "failed", "two logical qubits"),
    "adder_4_q20": (
        "fn deep(n: u64) -> u64 { black_box(1 + deep(black_box(n + 1))) } deep(0);",
        "crashed",
        "killed by SIG(ABRT|SEGV)",
    ),
    "ising_12_q20": (
        "let mut all = Vec::new(); loop { all.push(vec![1u8; 1 << 20]); }",
        r"(crashed|out_of_memory)",
        "(killed by SIGABRT|used more than)",
    ),
    "toffoli_13_q20": (r'loop { println!("{:1000}", 0); }', "crashed", "printed more than"),
    "fourier_14_q20": ("return Ok(vec![1; 3]);", "failed", "it needs 16"),
    "adder_7_q20": ("", "ok", ""),
}


def by_case(behaviours: dict[str, str]) -> str:
    """A layout choice that behaves in another way on each circuit (known by its used qubits)."""
    circuits = embedded_suite().load()
    arms = []
    for case, code in behaviours.items():
        circuit = circuits[case.removesuffix("_q20")]
        used = {qubit for operation in circuit.operations for qubit in operation.qubits}
        arms.append(f"{len(used)} => {{ {code} }}")
    choice = "match ctx.circuit().used_logical_qubits().len() { " + ", ".join(arms) + ", _ => {} }"
    return f"use std::hint::black_box; {choice}\nOk((0..16).collect())"


@pytest.mark.slow
def test_each_failure_stays_with_its_case(rust: None, judge: Judge) -> None:
    layout = by_case({case: code for case, (code, _, _) in FAILURES.items()})
    artifact, score = judge(policies.rust_policy("None", layout), ".rs", tuple(FAILURES))
    records = {record["id"]: record for record in artifact.data["cases"]}
    for case, (_, status, said) in FAILURES.items():
        assert re.fullmatch(status, artifact.facts["cases"][case]["status"]), records[case]
        assert re.search(said, records[case].get("error", "")), records[case]
    assert score.metrics["cases_failed"] == len(FAILURES) - 1
    assert score.objective is None


@pytest.mark.parametrize("swap", ["Some((0, 19))", "Some((usize::MAX, 0))"])
def test_swaps_must_lie_on_couplings(rust: None, judge: Judge, swap: str) -> None:
    said = "every case failed.*all runs failed: routing: choose_best_swap: .* are not coupled"
    with pytest.raises(Invalid, match=said):
        judge(policies.rust_policy(swap), ".rs")


def test_a_policy_that_never_answers_fails_its_case(
    rust: None, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "CASE_S", 2.0)
    artifact, score = judge(
        policies.rust_policy("None", by_case({"toffoli_5_q20": "loop {}"})), ".rs"
    )
    assert artifact.facts["cases"]["toffoli_5_q20"]["status"] == "timeout"
    assert "toffoli_5_q20: took too long" in score.attachments["failed cases"]


def test_all_cases_share_a_budget(
    rust: None, embedded: SwapReduction, harness: Harness, tmp_path: Path
) -> None:
    program = tmp_path / "endless.rs"
    program.write_text(policies.rust_policy("loop {}"))
    limits = find_task("swap_reduction").limits.changed(wall_s=2.0)
    with pytest.raises(TimedOut, match="all cases together took more than 2 s"):
        embedded.produce(program, harness.session(limits), "search")


WRITE = 'std::fs::write("trace.json", {}).unwrap(); std::process::exit(0);'
FORGED = {
    "toffoli_5_q20": (
        WRITE.format(
            r'"{\"initial_layout\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15],\"swaps\":[]}"'
        ),
        "gates_left",
    ),
    "toffoli_7_q20": (WRITE.format('"[".repeat(100000)'), "no readable trace"),
    "fourier_8_q20": (
        WRITE.format(r'"{\"initial_layout\":[[[1]]],\"swaps\":[]}"'),
        "no layout with SWAPs",
    ),
    "adder_4_q20": (
        'std::os::unix::fs::symlink("/etc/passwd", "trace.json").unwrap(); std::process::exit(0);',
        "no readable trace",
    ),
    "ising_12_q20": (
        r'println!("{{\"initial_layout\":[],\"swaps\":[]}}"); std::process::exit(0);',
        "no readable trace",
    ),
    "toffoli_13_q20": (
        WRITE.format(r'"{\"initial_layout\":[],\"swaps\":[],\"swap_count\":0,\"valid\":true}"'),
        "layout_length",
    ),
}


def test_forged_traces_gain_nothing(rust: None, no_rules: None, judge: Judge) -> None:
    """Even a policy that breaks all rules and writes the router's answer itself."""
    cases = (*FORGED, "adder_7_q20")
    layout = by_case({case: code for case, (code, _) in FORGED.items()})
    _, score = judge(policies.rust_policy("None", layout), ".rs", cases)
    assert score.metrics["cases_failed"] == len(FORGED)
    failed = dict(line.split(": ", 1) for line in score.attachments["failed cases"].split("\n"))
    for case, (_, said) in FORGED.items():
        assert said in failed[case], failed[case]


def test_a_running_policy_has_no_files_and_no_network(
    rust: None, no_rules: None, judge: Judge, tmp_path: Path, host_file: Path
) -> None:
    tries = {
        "read": f'std::fs::read("{host_file}").is_ok()',
        "list": f'std::fs::read_dir("{Path(__file__).parent}").is_ok()',
        "write": f'std::fs::write("{tmp_path}/new", "x").is_ok()',
        "net": 'std::net::UdpSocket::bind("0:0").and_then(|s| s.connect("1.1.1.1:53")).is_ok()',
    }
    swap = "".join(f'assert!(!({code}), "{name} works");\n' for name, code in tries.items())
    _, score = judge(policies.rust_policy(swap + "None"), ".rs")
    assert score.metrics["cases_failed"] == 0, score.attachments
    assert not (tmp_path / "new").exists()


def test_hash_order_is_the_same_in_every_run(
    rust: None, embedded: SwapReduction, session: Session
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
        return routing.records(routing.route_suite(router, embedded.suite, session, 600.0))

    first = traces(0)
    assert all("swaps" in record for record in first)
    assert traces(0) == first
    assert any(traces(seed) != first for seed in (1, 2, 3))
