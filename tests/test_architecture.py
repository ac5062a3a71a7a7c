"""The arrows between the packages, as `pyproject.toml` states them for import-linter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from shared_data import REPOSITORY


def test_dependencies_point_one_way() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    answer = subprocess.run(
        [lint, "--no-cache"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout
    assert "0 broken" in answer.stdout
