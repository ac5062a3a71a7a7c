"""Compiling C and C++ in the sandbox, and keeping what came out.

The compiler runs on untrusted text, so it sees what a candidate sees: the system, no other file of
the host (``#include "/path"``, ``.incbin``), with limits of its own (templates that never end).
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from benchmark import provenance
from benchmark.evaluator import (
    ATTACHMENT_CHARS,
    BuildFailed,
    Crashed,
    OutOfMemory,
    Sandbox,
    TimedOut,
    Unavailable,
)
from tasks.algorithm_engineering.caching import cache_folder, keep_newest, mark_used, write_whole

BUILD_S = 60.0
"""CPU and wall time of one build."""

MAX_PROGRAM_MB = 64
"""Largest program; the contest has no such limit, but the cache must."""

CACHE_MB = 1024

_NO_LIMIT = 2**31 - 1
_CONTEST_FLAGS = (
    "-std=gnu++20", "-O2", "-DONLINE_JUDGE", "-DATCODER", "-Wall", "-Wextra",
    "-march=native", "-mtune=native", f"-fconstexpr-depth={_NO_LIMIT}",
    f"-fconstexpr-loop-limit={_NO_LIMIT}", f"-fconstexpr-ops-limit={_NO_LIMIT}",
)  # fmt: skip
_HEADERS = ("/usr/include/eigen3", "/usr/include/ac-library", "/usr/local/include/ac-library")
_LIBRARIES = ("gmpxx", "gmp")
_PROGRAM = "program"  # name of the compiled file in the sandbox's folder
_SHELL_FOUND_NOTHING = (126, 127)


@cache
def compiler() -> tuple[str, str]:
    """Path and version line of g++; raises :class:`Unavailable` where there is none."""
    path = shutil.which("g++")
    if path is None:
        raise Unavailable("there is no g++ on the PATH: apt-get install g++")
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise Unavailable(f"{path} does not run: {answer.stderr.strip()}")
    return str(Path(path).resolve()), answer.stdout.splitlines()[0]


@cache
def contest_flags() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Flags before and behind the source: the contest's, and its libraries as far as installed."""
    headers = [f"-I{folder}" for folder in _HEADERS if Path(folder).is_dir()]
    libraries = [f"-l{name}" for name in _LIBRARIES if _has_library(name)]
    return (*_CONTEST_FLAGS, *headers), tuple(libraries)


def _has_library(name: str) -> bool:
    file = f"lib{name}.so"
    answer = subprocess.run(
        [compiler()[0], f"-print-file-name={file}"], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip() not in ("", file)  # a name without folder: not found


def build_candidate(source: bytes, sandbox: Sandbox) -> Path:
    """The contest program made of C++ source. Raises :class:`BuildFailed`."""
    flags, libraries = contest_flags()
    return _build("main.cpp", source, flags, libraries, sandbox)


def build_native(file: Path, flags: Sequence[str], sandbox: Sandbox) -> Path:
    """One of our own C files. Raises ``RuntimeError`` when it does not compile here."""
    try:
        return _build(file.name, file.read_bytes(), ("-x", "c", "-O2", *flags), ("-ldl",), sandbox)
    except BuildFailed as failure:
        said = failure.attachments.get("compiler", "")
        raise RuntimeError(f"{file.name} does not compile here: {failure}\n{said}") from None


def _build(
    name: str, source: bytes, flags: Sequence[str], libraries: Sequence[str], sandbox: Sandbox
) -> Path:
    path, version = compiler()
    argv = [path, *flags, "-o", _PROGRAM, name, *libraries]
    key = json.dumps([version, provenance.machine()["cpu"], argv]).encode() + b"\0" + source
    built = cache_folder("builds") / hashlib.sha256(key).hexdigest()
    if not mark_used(built):
        write_whole(built, _compile(argv, name, source, sandbox), executable=True)
        keep_newest(built.parent, CACHE_MB)
    return built


def _compile(argv: Sequence[str], name: str, source: bytes, sandbox: Sandbox) -> bytes:
    try:
        done = sandbox.run(
            argv,
            files={name: source},
            outputs=[_PROGRAM],
            wall_s=BUILD_S,
            cpu_s=BUILD_S,
        )
    except (TimedOut, OutOfMemory, Crashed) as failure:
        raise BuildFailed(f"the compiler {failure}") from None
    if done.returncode in _SHELL_FOUND_NOTHING:
        raise Unavailable(f"{argv[0]} cannot be run in the sandbox: install the system's g++")
    if done.returncode != 0:
        raise _failure(readable(done.stderr))
    built = done.outputs.get(_PROGRAM, b"")
    if not 0 < len(built) <= MAX_PROGRAM_MB << 20:
        raise BuildFailed(f"the compiler made no program, or one larger than {MAX_PROGRAM_MB} MiB")
    return built


def _failure(said: str) -> BuildFailed:
    errors = [line for line in said.splitlines() if _ERROR.search(line)]
    first = errors[0][:300] if errors else "see the compiler's message"
    # The first errors matter, the later ones often follow from them.
    return BuildFailed(
        f"the program does not compile: {first}", attachments={"compiler": said[:ATTACHMENT_CHARS]}
    )


_ERROR = re.compile("error: |undefined reference", re.IGNORECASE)
_FOLDER = re.compile(r"(?<![\w.])/(?!usr/|lib)(?:[\w.+-]+/)+")
_OBJECT = re.compile(r"\bcc[A-Za-z0-9]{6}\.(o|s|ltrans\S*)")


def readable(stderr: bytes) -> str:
    """The compiler's message without folders of this machine and names made up for the day."""
    text = _OBJECT.sub(r"main.\1", stderr.decode("utf-8", errors="replace"))
    text = _FOLDER.sub("", text)
    return "".join(letter for letter in text if letter == "\n" or letter.isprintable())
