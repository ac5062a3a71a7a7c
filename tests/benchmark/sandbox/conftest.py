"""A sandbox of each backend, given to every test that asks for one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sandboxes import BACKENDS, Caller, SessionMaker, launcher_of

from benchmark.sandbox.launch import Launcher
from benchmark.sandbox.limits import Limits
from benchmark.sandbox.session import Session


@pytest.fixture(params=BACKENDS)
def launcher(request: pytest.FixtureRequest) -> Launcher:
    return launcher_of(request.param)


@pytest.fixture
def make_session(launcher: Launcher) -> SessionMaker:
    def make(**limits: Any) -> Session:
        return Session(launcher, Limits(**{"wall_s": 20.0, **limits}))

    return make


@pytest.fixture
def call(launcher: Launcher, tmp_path: Path) -> Caller:
    return Caller(launcher, tmp_path)
