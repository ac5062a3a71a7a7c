"""Published numbers, a copy of them to change, and a folder of runs to fill."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from published_copy import PublishedCopy
from synthetic_traces import SyntheticRuns
from written_runs import WrittenRuns

from analysis.published import Published, default_folder


@pytest.fixture(scope="session")
def data() -> Published:
    """The project's published numbers."""
    return Published(default_folder())


@pytest.fixture
def copy(tmp_path: Path) -> PublishedCopy:
    """A copy of the project's published numbers."""
    return PublishedCopy(Path(shutil.copytree(default_folder(), tmp_path / "published")))


@pytest.fixture
def written(tmp_path: Path) -> WrittenRuns:
    """A folder of runs to fill."""
    return WrittenRuns(tmp_path / "runs")


@pytest.fixture
def synthetic(tmp_path: Path) -> SyntheticRuns:
    """A folder of runs to fill with whole traces."""
    return SyntheticRuns(tmp_path / "synthetic")
