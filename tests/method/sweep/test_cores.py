"""Jobs are bound to cores of their own, and candidates see no more than their job has."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from benchmark import provenance
from method.executors.cores import claimed


@pytest.fixture(autouse=True)
def own_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweeps of others on this machine are none of these tests' business."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_a_claim_binds_and_gives_back() -> None:
    before = os.sched_getaffinity(0)
    with claimed(1) as cores:
        assert os.sched_getaffinity(0) == cores
        assert provenance.cores() == 1
        assert provenance.machine()["cores"] == "1"
    assert os.sched_getaffinity(0) == before
    assert provenance.machine()["cores"] == str(len(before))
    with pytest.raises(KeyError), claimed(1):
        raise KeyError
    assert os.sched_getaffinity(0) == before


def test_two_jobs_get_different_cores_while_there_are_some() -> None:
    total = len(os.sched_getaffinity(0))
    if total < 2:
        pytest.skip("needs two cores")
    seen: list[frozenset[int]] = []
    ready = threading.Barrier(total + 1)

    def job() -> None:
        ready.wait(30)
        with claimed(1) as cores:
            seen.append(cores)
            ready.wait(30)

    threads = [threading.Thread(target=job) for _ in range(total)]
    for thread in threads:
        thread.start()
    ready.wait(30)
    ready.wait(30)
    assert len(frozenset().union(*seen)) == total
    with claimed(1) as shared:  # more jobs than cores: nobody waits
        assert len(shared) == 1
    for thread in threads:
        thread.join()


def test_a_claim_is_at_most_the_machine() -> None:
    with claimed(10_000) as cores:
        assert cores == os.sched_getaffinity(0)
