"""What works on this machine, and what to do about the rest."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from benchmark import provenance
from benchmark.availability import availability
from benchmark.catalogue import catalogue
from benchmark.sandbox import launch
from benchmark.sandbox.jail import SandboxBroken

State = Literal["ok", "limited", "missing"]
KEYS = {
    "OPENAI_API_KEY": "models of OpenAI",
    "ANTHROPIC_API_KEY": "models of Anthropic",
    "GEMINI_API_KEY": "models of Google",
    "TOGETHERAI_API_KEY": "models at Together AI",
    "TAVILY_API_KEY": "web search",
}
LIBRARIES = {"litellm": ("llm", "models of providers"), "tavily": ("tavily", "web search")}
"""Module, the extra of this distribution that brings it, and what it is for."""


@dataclass(frozen=True)
class Finding:
    """One line of the report; ``help`` says what to do when ``state`` is not ``ok``."""

    name: str
    state: State
    detail: str
    help: str = ""


def examine() -> Iterator[Finding]:
    """All findings; never touches the network and never shows a key's value."""
    yield Finding("python", "ok", f"{platform.python_version()} ({sys.executable})")
    yield from _isolation()
    yield from _compilers()
    yield _scratch()
    yield from _tasks()
    yield from _keys()


def _isolation() -> Iterator[Finding]:
    for name in ("bubblewrap", "process"):
        try:
            launcher = launch.choose(name, threads=1)
        except SandboxBroken as error:
            yield Finding(
                f"isolation {name}", "missing", str(error),
                "allow unprivileged user namespaces (in a container: a seccomp profile that "
                "permits clone and mount)" if name == "bubblewrap" else "",
            )  # fmt: skip
        else:
            yield Finding(f"isolation {name}", "ok", launcher.isolation)


def _compilers() -> Iterator[Finding]:
    tools = {
        "g++": "apt-get install g++",
        "cargo": "install Rust with rustup, or apt-get install cargo",
    }
    for command, remedy in tools.items():
        path = shutil.which(command)
        if path is None:
            yield Finding(command, "missing", "not on the PATH", remedy)
            continue
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if answer.returncode == 0:
            yield Finding(command, "ok", answer.stdout.splitlines()[0])
        else:
            yield Finding(command, "missing", f"{path} does not run", remedy)


def _scratch() -> Finding:
    folder = tempfile.gettempdir()
    free_mb = shutil.disk_usage(folder).free >> 20
    state: State = "ok" if free_mb > 1024 else "limited"
    return Finding("scratch space", state, f"{folder}: {free_mb} MB free", "free some space")


def _tasks() -> Iterator[Finding]:
    states = {task.id: availability(task) for task in catalogue().values()}
    ready = [state for state in states.values() if state.available]
    whole: State = "ok" if len(ready) == len(states) else "limited"
    yield Finding("tasks", whole, f"{len(ready)} of {len(states)} can be evaluated here")
    for name, state in states.items():
        if not state.available or state.variant != "official":
            kind: State = "limited" if state.available else "missing"
            yield Finding(name, kind, state.summary, f"evoduet data fetch {name}")


def _keys() -> Iterator[Finding]:
    for module, (extra, purpose) in LIBRARIES.items():
        if find_spec(module) is not None:
            yield Finding(module, "ok", f"installed ({purpose})")
        else:
            help_ = f"pip install 'evoduet[{extra}]'"
            yield Finding(module, "limited", f"not installed ({purpose})", help_)
    for variable, purpose in KEYS.items():
        if variable in os.environ:
            yield Finding(variable, "ok", f"set ({purpose})")
        else:
            yield Finding(variable, "limited", f"not set ({purpose})", f"export {variable}=...")
    mirror = os.environ.get("EVODUET_DATA_MIRROR")
    if mirror and "://" not in mirror and not Path(mirror).is_dir():
        yield Finding("EVODUET_DATA_MIRROR", "missing", f"{mirror}: no such folder", "correct it")
    elif mirror:
        yield Finding("EVODUET_DATA_MIRROR", "ok", mirror)
    yield Finding("cores", "ok", f"{provenance.cores()} ({provenance.machine()['cpu']})")
