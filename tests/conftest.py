"""Fixtures that several folders of tests use."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_data import require_shared


@pytest.fixture
def shared() -> Path:
    """The folder of parity vectors and data; skips the test when there is none."""
    return require_shared()
