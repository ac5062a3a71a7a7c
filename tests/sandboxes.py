"""Running program texts in a sandbox, for tests."""

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
from benchmark.sandbox.session import Account, Session

BACKENDS = ("bubblewrap", "process")
SessionMaker = Callable[..., Session]


def launcher_of(backend: str, threads: int = 1) -> Launcher:
    """A launcher of a named backend; skips the test where it does not work."""
    try:
        return launch.choose(backend, threads)
    except SandboxBroken as reason:
        pytest.skip(str(reason))


class Caller:
    """Calls ``run()`` (or the given calls) of a program text; ``account`` is the last one's."""

    def __init__(self, launcher: Launcher, folder: Path) -> None:
        self.launcher = launcher
        self.program = folder / "program.py"
        self.account = Account()

    def __call__(
        self,
        text: str,
        calls: Sequence[Call] = (Call("run"),),
        *,
        builtins: dict[str, Any] | None = None,
        random_seed: int | None = None,
        visible: Sequence[Path] = (),
        **limits: Any,
    ) -> Any:
        self.program.write_text(text)
        session = Session(self.launcher, Limits(**{"wall_s": 20.0, **limits}))
        self.account = session.account
        answers = session.call(
            self.program, calls, builtins=builtins, random_seed=random_seed, visible=visible
        )
        return answers[0] if len(calls) == 1 else answers
