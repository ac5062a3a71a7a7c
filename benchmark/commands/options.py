"""Options that several commands share, and how they are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
IsolationOption = Annotated[
    str,
    typer.Option(help="auto, bubblewrap (namespaces) or process (weaker, needs nothing)."),
]
StageOption = Annotated[
    str, typer.Option(help="search (steers methods), report (may be held out, costly) or both.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting of this task; repeatable."),
]


class UsageProblem(ValueError):
    """Options that do not go together or cannot be used; the message says what to do."""


def settings(given: list[str] | None) -> dict[str, str]:
    """``KEY=VALUE`` texts as a dictionary. Raises :class:`UsageProblem`."""
    pairs: dict[str, str] = {}
    for text in given or []:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UsageProblem(f"--set {text}: write it as KEY=VALUE")
        pairs[key] = value
    return pairs


def one_of(option: str, value: str, allowed: tuple[str, ...]) -> str:
    """The value if it is allowed. Raises :class:`UsageProblem` naming the option."""
    if value not in allowed:
        raise UsageProblem(f"{option} {value}: use {', '.join(allowed[:-1])} or {allowed[-1]}")
    return value


def print_json(value: Any) -> None:
    """One line of strict JSON on stdout."""
    print(json.dumps(value, allow_nan=False))


def console() -> Console:
    """Where text for people goes: colours on a terminal, full width in a pipe."""
    from rich.console import Console

    plain = Console()
    return plain if plain.is_terminal else Console(width=160)


def prepare_output(path: Path, option: str = "--out") -> Path:
    """Make sure that ``path`` can be written before any work is done.

    Raises :class:`UsageProblem` naming the path; leaves nothing behind.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        probe = path.with_name(f".{path.name}.probe")
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        reason = error.strerror or "cannot be written"
        raise UsageProblem(f"{option} {path}: {reason}; choose another place") from None
    if path.is_dir():
        raise UsageProblem(f"{option} {path}: is a folder; name a file")
    return path


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all. Raises :class:`UsageProblem` (disk full, read-only)."""
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        raise UsageProblem(f"{path}: not written ({error.strerror})") from None
    finally:
        partial.unlink(missing_ok=True)
