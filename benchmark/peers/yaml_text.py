"""Writing the YAML of configuration files: mappings of scalars, lists and texts.

The core of this distribution needs no YAML library; what these files hold is so little that
writing it by hand is shorter than a dependency. Long texts become literal blocks, which people
can edit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Value: TypeAlias = "str | bool | int | float | Sequence[Value] | Mapping[str, Value]"

# What YAML 1.1 cannot hold unescaped, and the line breaks that it knows beyond "\n".
_SPECIAL = re.compile("[^\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd"
                      "\U00010000-\U0010ffff]")  # fmt: skip
_VARIABLE = "${"  # SkyDiscover replaces ${NAME} in the whole file before it reads the YAML
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "$": "\\x24"}


def to_yaml(mapping: Mapping[str, Value], indent: int = 0) -> str:
    """A block mapping whose keys are plain words, ending in a newline."""
    margin = " " * indent
    lines = []
    for key, value in mapping.items():
        if isinstance(value, Mapping):
            lines.append(f"{margin}{key}:\n{to_yaml(value, indent + 2)}")
        elif isinstance(value, str) and _suits_a_block(value):
            lines.append(f"{margin}{key}: {_block(value, indent + 2)}")
        else:
            lines.append(f"{margin}{key}: {_flow(value)}\n")
    return "".join(lines)


def _flow(value: Value) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    return repr(value)


def _suits_a_block(text: str) -> bool:
    if _SPECIAL.search(text) or _VARIABLE in text:
        return False
    return "\n" in text.rstrip("\n") and not text.endswith("\n\n")


def _block(text: str, indent: int) -> str:
    # The indicator 2 makes the first line's own leading blanks part of the text.
    head = "|2" if text.endswith("\n") else "|2-"
    margin = " " * indent
    lines = text.removesuffix("\n").split("\n")
    return "\n".join([head, *(margin + line if line else "" for line in lines)]) + "\n"


def _quoted(text: str) -> str:
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if not _SPECIAL.match(character):
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
