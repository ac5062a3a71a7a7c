"""The parity vectors of the method package, one test parameter for each case."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet
from shared_data import parity_files, read_case


def cases(name: str) -> list[ParameterSet]:
    """One parameter for each case of a file of vectors."""
    (file,) = parity_files("methods", name)
    if file.values[0] is None:
        return [file]
    path = file.values[0]
    assert isinstance(path, Path)
    content = read_case(path, numbers=False)
    return [pytest.param(case, id=f"{path.stem}-{case['case']}") for case in content]


def official(name: str) -> list[ParameterSet]:
    return cases(f"official/{name}")
