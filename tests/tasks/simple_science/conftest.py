"""Data settings of the simple tasks' tests: a cache of their own, with or without the mirror."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from shared_data import shared_root


@pytest.fixture(scope="module")
def fresh_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A fresh machine: an empty cache and no mirror."""
    folder = tmp_path_factory.mktemp("evoduet-data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVODUET_DATA", str(folder))
        patch.delenv("EVODUET_DATA_MIRROR", raising=False)
        yield folder


@pytest.fixture(scope="module")
def official_data(fresh_cache: Path) -> Iterator[Path]:
    """The mirror of the official files; skips the test where there is none."""
    root = shared_root()
    if root is None or not (root / "data").is_dir():
        pytest.skip("no data mirror: no shared folder beside the repository, EVODUET_SHARED unset")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVODUET_DATA_MIRROR", str(root / "data"))
        yield root / "data"
