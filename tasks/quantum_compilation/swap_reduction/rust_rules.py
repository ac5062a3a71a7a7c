"""What a policy in Rust may not use: another layer, in front of compiler and sandbox.

A policy computes; it has no business with files, processes, clocks, the network or the inner parts
of the router. Whatever slips through here still runs without rights, and all that counts of its
work is a trace that is replayed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tasks.quantum_compilation.swap_reduction.rust_tokens import Token

FORBIDDEN_WORDS = frozenset({"unsafe", "extern", "proc_macro", "include_str", "include_bytes",
                             "option_env", "asm", "global_asm", "naked_asm"})  # fmt: skip
FORBIDDEN_MACROS = frozenset({"include", "env"})
FORBIDDEN_MODULES = frozenset({"arch", "asm", "backtrace", "env", "fs", "include", "intrinsics",
                               "net", "os", "path", "process", "thread", "time"})  # fmt: skip
FORBIDDEN_ATTRIBUTES = frozenset({"path", "no_mangle", "export_name", "link", "link_name",
                                  "link_section", "global_allocator", "panic_handler",
                                  "no_main", "start"})  # fmt: skip
ENGINE_NAMES = (
    ("dense_layout",),
    ("routing_target", "::", "RoutingTarget"),
    ("sabre", "::", "layout", "::", "Layout"),
    ("RouterError",),
)
_LIBRARIES = frozenset({"std", "core", "alloc"})


def broken_rule(tokens: Sequence[Token]) -> str | None:
    """The first thing in a block that a policy may not use, or ``None``."""
    texts = [token.text if token.kind != "literal" else "" for token in tokens]
    has_macros = "macro_rules" in texts
    for index, token in enumerate(tokens):
        if token.kind == "literal":
            continue
        problem = _problem(texts, index, has_macros)
        if problem is not None:
            return f"line {token.line}: {problem}"
    return _attribute_problem(tokens, texts) or _super_problem(tokens, texts)


def _problem(texts: Sequence[str], index: int, has_macros: bool) -> str | None:
    text, following = texts[index], _text(texts, index + 1)
    if text in FORBIDDEN_WORDS:
        return f"a policy may not use {text}"
    if text in FORBIDDEN_MACROS and following == "!":
        return f"a policy may not use {text}!"
    if text == "#" and following == "!":
        return "a policy may not use inner attributes (#![...])"
    if text == "mod" and _text(texts, index + 2) == ";":
        return "a policy lies in one file; give the module a body"
    if text in _LIBRARIES:
        return _library_problem(texts, index, has_macros)
    if text == "crate":
        return _crate_problem(texts, index)
    return None


def _library_problem(texts: Sequence[str], index: int, has_macros: bool) -> str | None:
    library = texts[index]
    if _text(texts, index + 1) != "::":
        if _in_use(texts, index):
            return f"a policy may not give {library} another name"
        # A macro could put the parts of a path together.
        return f"a policy with macros must write {library}:: paths out" if has_macros else None
    for name in _first_names(texts, index + 2):
        if name in FORBIDDEN_MODULES:
            return f"a policy may not use {library}::{name}"
        if name != "<" and (not name.isidentifier() or name == "self"):
            return f"write the path behind {library}:: out"
    return None


def _first_names(texts: Sequence[str], index: int) -> Iterator[str]:
    """The name at ``index``, or the first names of all paths in a group ``{...}`` there."""
    if _text(texts, index) != "{":
        yield _text(texts, index)
        return
    depth = 0
    expected = False
    while index < len(texts):
        text = texts[index]
        if text == "{":
            depth += 1
            expected = expected or depth == 1
        elif text == "}":
            depth -= 1
            if depth == 0:
                return
        elif text == "," and depth == 1:
            expected = True
        elif expected:
            expected = False
            yield text
        index += 1


def _in_use(texts: Sequence[str], index: int) -> bool:
    """Whether a place lies in a ``use`` declaration: they contain no statement ends."""
    for text in reversed(texts[:index]):
        if text == "use":
            return True
        if text not in ("{", ",", "::", "}", "as", "*") and not text.isidentifier():
            return False
    return False


def _crate_problem(texts: Sequence[str], index: int) -> str | None:
    if _text(texts, index - 1) == "(" and _text(texts, index - 2) == "pub":
        return None
    if list(texts[index + 1 : index + 4]) == ["::", "engine", "::"]:
        rest = tuple(texts[index + 4 : index + 9])
        if any(rest[: len(names)] == names for names in ENGINE_NAMES):
            return None
    allowed = ", ".join("".join(names) for names in ENGINE_NAMES)
    return f"of crate::engine a policy may name {allowed} only (they are imported already)"


def _attribute_problem(tokens: Sequence[Token], texts: Sequence[str]) -> str | None:
    for index, token in enumerate(tokens):
        if texts[index] != "#" or _text(texts, index + 1) != "[":
            continue
        depth = 0
        for text in texts[index + 1 :]:
            depth += (text == "[") - (text == "]")
            if depth == 0:
                break
            if text in FORBIDDEN_ATTRIBUTES:
                return f"line {token.line}: a policy may not use the attribute {text}"
    return None


def _super_problem(tokens: Sequence[Token], texts: Sequence[str]) -> str | None:
    """``super`` may lead out of the policy's own modules, not out of the policy."""
    braces: list[bool] = []  # for each open one: whether it is a module's
    for index, token in enumerate(tokens):
        text = texts[index]
        if text == "{":
            braces.append(_text(texts, index - 2) == "mod")
        elif text == "}" and braces:
            braces.pop()
        elif text == "super" and token.kind == "word":
            steps = 1
            while texts[max(0, index - 2 * steps) : index - 2 * steps + 2] == ["super", "::"]:
                steps += 1
            grouped = _in_use(texts, index) and _text(texts, index - 1) in ("{", ",")
            if steps > sum(braces) or grouped:
                return f"line {token.line}: super leads out of the policy"
    return None


def _text(texts: Sequence[str], index: int) -> str:
    return texts[index] if 0 <= index < len(texts) else ""
