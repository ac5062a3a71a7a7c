"""Building the router with a candidate's policy in it, offline, and keeping what came out."""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
from pathlib import Path

from benchmark import provenance
from benchmark.evaluator import (
    ATTACHMENT_CHARS,
    BuildFailed,
    Crashed,
    OutOfMemory,
    Sandbox,
    TimedOut,
)
from tasks.quantum_compilation.swap_reduction.block import spliced
from tasks.quantum_compilation.swap_reduction.build_cache import BuildCache
from tasks.quantum_compilation.swap_reduction.toolchain import Toolchain, toolchain

CRATE = Path(__file__).with_name("crate")
CANDIDATE = "src/candidate.rs"
PROGRAM = "target/release/router"
BUILD_S = 180.0
"""Wall and CPU seconds of one build."""

BUILD_MEMORY_MB = 4096
MAX_PROGRAM_MB = 64

OWN_PART_FAILED = 97
# Unpacks the crate, and lets cargo write into the private folder only. What it says goes to
# standard output, which is kept whole. Our own crates come first: when they do not build, it is
# not the policy's fault.
_SCRIPT = f"""
tar -xf crate.tar || exit {OWN_PART_FAILED}
export CARGO_HOME="$PWD/cargo-home"
set -- build --release --offline --locked --quiet
"$0" "$@" -p ndarray -p rand_pcg -p rustworkx-core 2>&1 || exit {OWN_PART_FAILED}
exec "$0" "$@" 2>&1
"""


def build_router(source: str, sandbox: Sandbox) -> Path:
    """The router made of the crate and the policy in ``source``.

    Raises :class:`~benchmark.evaluator.Invalid` for a source that breaks the rules,
    :class:`BuildFailed` when it does not compile, :class:`~benchmark.evaluator.Unavailable` where
    there is no Rust, and ``RuntimeError`` where our own part does not build.
    """
    scaffold = (CRATE / CANDIDATE).read_text(encoding="utf-8")
    candidate, offset = spliced(source, scaffold)
    tools = toolchain()
    files = {**crate_files(), CANDIDATE: candidate.encode()}
    cache = BuildCache.of_user()
    key = build_key(files, tools)
    found = cache.find(key)
    return found or cache.keep(key, _compile(files, tools, offset, sandbox))


def crate_files() -> dict[str, bytes]:
    """The router's own sources, by their path in the crate."""
    kinds = ("*.rs", "Cargo.toml", "Cargo.lock")
    paths = sorted(path for kind in kinds for path in CRATE.rglob(kind))
    return {path.relative_to(CRATE).as_posix(): path.read_bytes() for path in paths}


def build_key(files: dict[str, bytes], tools: Toolchain) -> str:
    """Names what a build depends on: sources, toolchain, processor."""
    machine = provenance.machine()
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    facts = [tools.version, machine["architecture"], machine["cpu"], _SCRIPT, digests]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _compile(files: dict[str, bytes], tools: Toolchain, offset: int, sandbox: Sandbox) -> bytes:
    try:
        done = sandbox.run(
            ["/bin/sh", "-c", _SCRIPT, str(tools.cargo)],
            files={"crate.tar": _tar(files)},
            visible=tools.visible,
            outputs=[PROGRAM],
            env={
                "PATH": tools.search_path,
                "RUSTC": str(tools.rustc),
                "CARGO_TERM_COLOR": "never",
                "CARGO_INCREMENTAL": "0",
            },
            wall_s=BUILD_S,
            cpu_s=BUILD_S,
            memory_mb=BUILD_MEMORY_MB,
        )
    except (TimedOut, OutOfMemory, Crashed) as failure:
        raise BuildFailed(f"the compiler {failure}") from None
    if done.returncode == OWN_PART_FAILED:
        raise RuntimeError(f"our own crates do not build here: {_readable(done.stdout)[:500]}")
    if done.returncode != 0:
        raise _failure(_readable(done.stdout), offset)
    program = done.outputs.get(PROGRAM, b"")
    if not 0 < len(program) <= MAX_PROGRAM_MB << 20:
        raise BuildFailed(f"the compiler made no program, or one larger than {MAX_PROGRAM_MB} MiB")
    return program


def _tar(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


_ERROR = re.compile(r"^error(?:\[E\d+\])?: .*", re.MULTILINE)
_PLACE = re.compile(rf"(?<=--> {re.escape(CANDIDATE)}:)(\d+)")


def _readable(output: bytes) -> str:
    text = output.decode("utf-8", errors="replace")
    return "".join(letter for letter in text if letter == "\n" or letter.isprintable())


def _failure(said: str, offset: int) -> BuildFailed:
    first = _ERROR.search(said)
    place = _PLACE.search(said, first.start()) if first else None
    reason = first[0][:300] if first else "see the compiler's message"
    if place is not None and int(place[1]) > offset:
        reason += f" (line {int(place[1]) - offset} of the block)"
    note = f"({CANDIDATE} line {offset + 1} is the first line of the block)\n"
    return BuildFailed(
        f"the block does not compile: {reason}",
        attachments={"compiler": (note + said)[:ATTACHMENT_CHARS]},
    )
