"""A sandbox of each backend, given to every test that asks for one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmark.evaluator import Call
from benchmark.sandbox import launch
from benchmark.sandbox.jail import SandboxBroken
from benchmark.sandbox.launch import Launcher
from benchmark.sandbox.limits import Limits
from benchmark.sandbox.session import Session


def launcher_of(backend: str, threads: int = 1) -> Launcher:
    """A launcher of a named backend; skips the test where it does not work."""
    try:
        return launch.choose(backend, threads)
    except SandboxBroken as reason:
        pytest.skip(str(reason))


@pytest.fixture(params=["bubblewrap", "process"])
def launcher(request: pytest.FixtureRequest) -> Launcher:
    return launcher_of(request.param)


SessionMaker = Callable[..., Session]


@pytest.fixture
def make_session(launcher: Launcher) -> SessionMaker:
    def make(**limits: Any) -> Session:
        return Session(launcher, Limits(**{"wall_s": 20.0, **limits}))

    return make


Caller = Callable[..., Any]


@pytest.fixture
def call(make_session: SessionMaker, tmp_path: Path) -> Caller:
    """Calls ``run()`` (or the given calls) of a program text; the session is ``call.session``."""

    def calling(
        text: str,
        calls: Sequence[Call] = (Call("run"),),
        *,
        builtins: dict[str, Any] | None = None,
        random_seed: int | None = None,
        visible: Sequence[Path] = (),
        **limits: Any,
    ) -> Any:
        program = tmp_path / "program.py"
        program.write_text(text)
        session = make_session(**limits)
        calling.session = session  # type: ignore[attr-defined]
        answers = session.call(
            program, calls, builtins=builtins, random_seed=random_seed, visible=visible
        )
        return answers[0] if len(calls) == 1 else answers

    return calling
