"""Run-time network use of a program, read from its text: a static flag, nothing is executed.

Python is searched through its syntax tree; a program that does not parse, and C++ and Rust, by
pattern. `urllib.parse` and `urllib.error` touch no network and do not count.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping

MODULES = ("urllib", "requests", "httpx", "aiohttp", "socket", "ftplib", "http.client")
_HARMLESS = ("urllib.parse", "urllib.error", "urllib.robotparser")
_TOOLS = re.compile(r"(?<![\w-])(curl|wget|git)(?![\w-])")
_SHELLS = ("os.system", "os.popen", "os.exec", "os.spawn")
_TRIGGERS = re.compile(r"urllib|requests|http|aiohttp|socket|ftplib|curl|wget|git")
_JOINTS = re.compile(r"[\s'\"\\]+")
_ESCAPES = re.compile(r"\\[xuUN0-7]|[^\x00-\x7f]")
_COMPILED = re.compile(r"\b(system\s*\(|popen\s*\(|reqwest\b|socket\s*\()")
_IMPORT = re.compile(
    r"^[ \t]*(?:import|from)[ \t]+(" + "|".join(map(re.escape, MODULES)) + r")(?:\b|\.)[^\n]*", re.M
)
_SHELL = re.compile(r"(?:os\.(?:system|popen)|subprocess\.\w+)\s*\([^\n]*")
_COMMENT = re.compile(
    r"\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])'|(//[^\n]*|/\*.*?(?:\*/|\Z))", re.S
)  # a string hides what looks like a comment; unclosed ones end with the line or the text
_LONG = 200


def network_calls(code: str, language: str) -> list[str]:
    """Places where a program could reach the network, as ``line 3: import requests``.

    ``language`` is ``python``, ``cpp`` or ``rust``. Never raises, whatever the text is.
    """
    if language != "python":
        return _by_pattern(_without_comments(code), _COMPILED)
    if not _worth_parsing(code):
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _unparsed(code)
    return list(dict.fromkeys(f"line {line}: {what}" for line, what in sorted(_found(tree))))


def _worth_parsing(code: str) -> bool:
    """Whether a name that counts can be in a program at all, be it in pieces or escaped."""
    return bool(_TRIGGERS.search(_JOINTS.sub("", code)) or _ESCAPES.search(code))


def _found(tree: ast.AST) -> Iterator[tuple[int, str]]:
    nodes = list(ast.walk(tree))
    texts = _assigned_texts(nodes)
    names = _imported_names(nodes)
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_network(alias.name):
                    yield node.lineno, f"import {alias.name}"
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                if _is_network(name):
                    yield node.lineno, f"from {node.module} import {alias.name}"
        elif isinstance(node, ast.Call):
            what = _call(node, names, texts)
            if what:
                yield node.lineno, what


def _is_network(module: str) -> bool:
    if any(module == name or module.startswith(f"{name}.") for name in _HARMLESS):
        return False
    return any(module == name or module.startswith(f"{name}.") for name in MODULES)


def _call(node: ast.Call, names: Mapping[str, str], texts: Mapping[str, list[str]]) -> str:
    """What a call does that counts: a shell command with curl, wget or git, or a hidden import."""
    called = _dotted(node.func, names)
    if called in ("__import__", "importlib.import_module"):
        wanted = [text for text in _texts(node, texts) if _is_network(text)]
        return f"{called}({wanted[0]!r})" if wanted else ""
    if called.startswith("subprocess.") or called.startswith(_SHELLS):
        for text in _texts(node, texts):
            tool = _TOOLS.search(text)
            if tool:
                return f"{called} with {tool[1]}"
    return ""


def _texts(node: ast.Call, texts: Mapping[str, list[str]]) -> Iterator[str]:
    """String constants in the arguments, also those of names that are assigned one somewhere."""
    for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
        for inner in ast.walk(argument):
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                yield inner.value
            elif isinstance(inner, ast.Name):
                yield from texts.get(inner.id, ())


def _assigned_texts(nodes: Iterable[ast.AST]) -> dict[str, list[str]]:
    """Texts that matter to :func:`_call`, by the names they are assigned to."""
    found: dict[str, list[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            targets = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if targets:
                texts = [t for t in _constants(node.value) if _TOOLS.search(t) or _is_network(t)]
                for name in targets:
                    found.setdefault(name, []).extend(texts)
    return found


def _constants(value: ast.expr) -> list[str]:
    """A string, or the strings of a list, tuple or f-string; no deeper, so that it stays cheap."""
    parts: list[ast.expr] = [value]
    if isinstance(value, ast.List | ast.Tuple):
        parts = value.elts
    elif isinstance(value, ast.JoinedStr):
        parts = value.values
    return [p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)]


def _imported_names(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Local names of modules and functions: ``import os as o`` makes ``o`` mean ``os``."""
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    names[alias.asname] = alias.name
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def _dotted(node: ast.expr, names: Mapping[str, str]) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < 8:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(names.get(node.id, node.id))
    return ".".join(reversed(parts))


def _unparsed(code: str) -> list[str]:
    """Imports and shell commands of a text that is no Python program."""
    found = [
        (match.start(), " ".join(match[0].split())[:_LONG])
        for match in _IMPORT.finditer(code)
        if not any(name in match[0] for name in _HARMLESS)
    ]
    found += [
        (match.start(), match[0][:_LONG])
        for match in _SHELL.finditer(code)
        if _TOOLS.search(match[0])
    ]
    return [f"line {code.count(chr(10), 0, at) + 1}: {what}" for at, what in sorted(found)]


def _by_pattern(code: str, pattern: re.Pattern[str]) -> list[str]:
    return [
        f"line {number}: {' '.join(match[1].split())}"
        for number, line in enumerate(code.split("\n"), 1)
        for match in pattern.finditer(line)
    ]


def _without_comments(code: str) -> str:
    """C++ or Rust without comments, lines kept."""
    return _COMMENT.sub(lambda m: m[0] if m[1] is None else "\n" * m[0].count("\n"), code)
