"""Finding a policy in a text, and what it may not contain."""

from __future__ import annotations

import pytest
import routing_policies as policies
from hypothesis import given
from hypothesis import strategies as st

from benchmark import Invalid
from tasks.quantum_compilation.swap_reduction.block import END, START, find_block, spliced
from tasks.quantum_compilation.swap_reduction.building import CANDIDATE, CRATE
from tasks.quantum_compilation.swap_reduction.rust_rules import broken_rule
from tasks.quantum_compilation.swap_reduction.rust_tokens import (
    SourceError,
    check_balance,
    tokens,
)

SCAFFOLD = (CRATE / CANDIDATE).read_text(encoding="utf-8")
BODY = "pub struct CandidatePolicy;"


def rule(text: str) -> str | None:
    found = tokens(text)
    check_balance(found)
    return broken_rule(found)


@pytest.mark.parametrize(
    "text",
    [
        f"// {START}\n{BODY}\n// {END}\n",
        f"  {START}\n\n{BODY}\n\n\t{END}",
        f"// {START} here\r\n{BODY}\r\n//{END}\r\nfn after() {{}}",
        f"Here it is:\n```rust\n// {START}\n{BODY}\n// {END}\n```\nEnjoy.",
        SCAFFOLD.replace(f"// {END}", f"{BODY}\n// {END}"),
        SCAFFOLD.replace(f"// {START}\n", "").replace(f"// {END}", BODY),
        "```rust\n" + SCAFFOLD.replace(f"// {START}\n// {END}", BODY) + "\n```",
    ],
)
def test_the_block_is_found(text: str) -> None:
    assert find_block(text, SCAFFOLD) == BODY
    module, offset = spliced(text, SCAFFOLD)
    assert module.split("\n")[offset] == BODY
    assert module.replace(BODY + "\n", "") == SCAFFOLD


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no line with"),
        (BODY, "no line with"),
        (SCAFFOLD.replace(f"// {START}\n// {END}\n", BODY).replace("self.rng", "rng"), "no line"),
        (f"// {START}\n{BODY}", f"{START} has no {END}"),
        (f"// {START}\n \n// {END}", "nothing between"),
        (f"// {START}\n}} mod other {{\n// {END}", "line 1: } closes nothing"),
        (f"// {START}\nfn f() {{\n// {END}", "line 1: { is not closed"),
        (f"// {START}\nfn f() {{ ( }} )\n// {END}", "closes nothing"),
        (f'// {START}\nconst A: &str = "\n// {END}', "not closed"),
        (f"// {START}\n{BODY} /* \n// {END}", "comment is not closed"),
        (f"// {START}\nunsafe fn f() {{}}\n// {END}", "line 1: a policy may not use unsafe"),
    ],
)
def test_texts_without_a_usable_block(text: str, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        spliced(text, SCAFFOLD)


ALLOWED = [
    '// unsafe { std::fs::read("x") }',
    '/* extern /* include!("x") */ std::env */',
    'const A: &str = "unsafe { std::fs }";',
    'const A: &str = r#"include_str!("x") \\"#;',
    "const A: &[u8] = b\"std::net\"; const C: char = '\"'; const D: char = '\\'';",
    "fn f<'a>(x: &'a str) -> &'a str { x }",
    "fn f() { let r#type = 'x'; let env = 1; let include = env + 1; let std = 0.5 * 2.0; }",
    "use std::collections::{BTreeMap, BinaryHeap}; use std::cmp::Reverse;",
    "use std::{fmt, mem::{self, swap}, cmp::{max, min}};",
    "fn path(net: usize, time: usize, process: &[usize]) -> usize { net + time + process.len() }",
    "mod inner { use super::*; pub mod deep { use super::super::Policy; pub(super) fn f() {} } }",
    "pub(crate) struct S; use crate::engine::RouterError; type L = crate::engine::dense_layout::X;",
    "fn f() { let l: crate::engine::sabre::layout::Layout; let alloc = 3 as f64; }",
    "#[derive(Clone, Debug)] #[inline(always)] #[allow(dead_code)] struct S { start: usize }",
    "macro_rules! sum { ($($x:expr),*) => { 0 $(+ $x)* } } fn f() -> f64 { std::f64::consts::PI }",
    "struct Stats { mean: f64, std: f64 } fn f(s: &Stats) -> f64 { s.std }",
    "fn f() { let x = alloc::<usize>(); }",
    "fn f() { if !x { } let y = a == !b; }",
]


@pytest.mark.parametrize("text", ALLOWED)
def test_allowed(text: str) -> None:
    assert rule(text) is None


REFUSED = [
    "fn f() { unsafe { } }",
    "fn f() { r#unsafe::f() }",
    "extern crate libc;",
    'extern "C" { fn exit(code: i32); }',
    'const A: &str = include_str!("/etc/passwd");',
    'const A: &[u8] = include_bytes ! ("x");',
    'include!("x");',
    '#[doc = include_str!("x")] struct S;',
    'const A: &str = env!("HOME");',
    'const A: Option<&str> = option_env!("HOME");',
    'fn f() { core::arch::asm!("nop") }',
    'use std::arch::asm as a;',
    'global_asm!("nop");',
    "use std::include_str as text;",
    "use std::env as e;",
    "#![allow(unsafe_code)]",
    "# ! [feature(asm)]",
    'fn f() { std::fs::read("x"); }',
    "use std::fs;",
    "use std :: { collections::HashMap, fs::File };",
    "use std::{collections::{HashMap, HashSet}, io, net::TcpStream};",
    "use ::std::process::exit;",
    "use std::r#fs;",
    "use std as s;",
    "use core as c;",
    "use std::{self as s};",
    "use std::*;",
    "use {std as s};",
    "use std::{fmt, *};",
    "fn f() { std::process::exit(0) }",
    "fn f() { std::thread::spawn(|| ()); }",
    "fn f() { std::time::Instant::now(); }",
    "fn f() { std::path::Path::new(\"/\").read_dir(); }",
    "fn f() { std::os::raw::c_int; }",
    "macro_rules! m { ($a:ident) => { std::$a::read(0) } }",
    "macro_rules! m { ($a:ident, $b:ident) => { $a::$b::read(0) } } fn f() { m!(std, fs) }",
    "use crate::engine::sabre::trials;",
    "use crate::hash_seed;",
    "use crate::engine::{RouterError, sabre};",
    "use crate as c;",
    "use crate::*;",
    "fn f() { $crate::engine::sabre::run::Run::new() }",
    "fn f() { super::engine::sabre::trials::route() }",
    "mod a { fn f() { super::super::engine::f() } }",
    "mod a { use super::{super::engine as e}; }",
    "mod a { mod b {} fn f() { super::super::hash_seed::set(1) } }",
    "mod other;",
    '#[path = "/etc/passwd"] mod m {}',
    "#[no_mangle] pub fn getrandom() {}",
    '#[cfg_attr(all(), export_name = "getrandom")] pub fn f() {}',
    '#[link(name = "c")] struct S;',
    "use proc_macro::TokenStream;",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    assert rule(text) is not None


def test_the_message_names_the_line_of_the_block() -> None:
    text = f"// {START}\n{BODY}\n\nuse std::fs;\n// {END}"
    with pytest.raises(Invalid, match=r"line 3: a policy may not use std::fs \(lines are counted"):
        spliced(text, SCAFFOLD)


def test_our_own_programs_are_allowed() -> None:
    for source in (policies.initial_source("rs"), *policies.RUST.values()):
        module, _ = spliced(source, SCAFFOLD)
        check_balance(tokens(module))


@given(st.text(alphabet="ab'\"\\/*r#{}()[] \n!:;_0é", max_size=60))
def test_any_text_has_tokens_or_is_open(text: str) -> None:
    try:
        found = tokens(text)
    except SourceError:
        return
    assert all(token.text and 1 <= token.line <= text.count("\n") + 1 for token in found)


PARTS = ["unsafe", "x", "'a", "'b'", '"s"', 'r#"q"#', "1.5", "->", "{", "}"]


@given(st.lists(st.sampled_from(PARTS), max_size=12))
def test_space_and_comments_change_nothing(parts: list[str]) -> None:
    plain = [token.text for token in tokens(" ".join(parts))]
    noisy = [token.text for token in tokens(" /* unsafe \" */\n// ' fs\n".join(parts))]
    assert plain == noisy
