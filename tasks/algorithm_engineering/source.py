"""The C++ source that a candidate file holds: the file itself, or one string literal in it.

Public material wraps contest programs as ``CPP_CODE = '''...'''`` in a file that looks like Python.
The literal is found by parsing; the file is never executed.
"""

from __future__ import annotations

import ast
from pathlib import Path

from benchmark.evaluator import BuildFailed

LITERAL_NAME = "CPP_CODE"
MAX_SOURCE_BYTES = 512 * 1024
"""Longest C++ source, the contest's own limit."""

_MAX_FILE_BYTES = 8 * MAX_SOURCE_BYTES  # a literal may spend up to four characters on a byte


def cpp_source(program: Path) -> bytes:
    """The C++ source of a candidate, UTF-8; raises :class:`BuildFailed` where there is none."""
    if program.stat().st_size > _MAX_FILE_BYTES:
        raise BuildFailed(f"the file is larger than {_MAX_FILE_BYTES >> 20} MiB")
    try:
        text = program.read_bytes().decode("utf-8-sig")
        source = (_literal(text) if program.suffix == ".py" else text).encode()
    except UnicodeError:
        raise BuildFailed("the source is not UTF-8 text") from None
    if len(source) > MAX_SOURCE_BYTES:
        raise BuildFailed(
            f"the C++ source has {len(source)} bytes; the contest allows {MAX_SOURCE_BYTES}"
        )
    return source


def _literal(text: str) -> str:
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BuildFailed(f"the file is not a Python module: {error}") from None
    match statements:
        case [ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(literal)))]:
            if name == LITERAL_NAME:
                return literal
    raise BuildFailed(
        f"a .py candidate must be exactly one assignment of a string literal: {LITERAL_NAME} = "
        "'''...C++...'''"
    )
