"""Limits as numbers: budgets, rlimits, what the user's other processes change."""

from __future__ import annotations

import os
import resource

import pytest

from benchmark.sandbox import limits as limits_module
from benchmark.sandbox.inside import seccomp
from benchmark.sandbox.limits import Limits


def test_changes_keep_the_rest() -> None:
    limits = Limits(wall_s=5, memory_mb=100, processes=3)
    assert limits.changed() == limits
    assert limits.changed(wall_s=7, cpu_s=2.5) == Limits(
        wall_s=7, cpu_s=2.5, memory_mb=100, processes=3
    )


def test_cpu_budget() -> None:
    assert Limits(wall_s=5).cpu_budget(4) == 20
    assert Limits(wall_s=5, cpu_s=2.5).cpu_budget(4) == 2.5


def test_rlimits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_module, "_tasks_of_user", lambda user: 1000)
    values = Limits(cpu_s=2.5, memory_mb=10, scratch_mb=1, threads=7, open_files=20).rlimits(2)
    assert values["RLIMIT_AS"] == 10 << 20
    assert values["RLIMIT_CPU"] == 4  # above the budget, which the parent keeps
    assert values["RLIMIT_FSIZE"] == 1 << 20
    assert values["RLIMIT_NOFILE"] == 20
    assert values["RLIMIT_NPROC"] == 1007
    assert values["RLIMIT_CORE"] == 0


def test_rlimits_never_exceed_what_may_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (50, 50))
    assert set(Limits().rlimits(1).values()) <= {0, 50}


def test_threads_of_a_user_are_counted() -> None:
    assert limits_module._tasks_of_user(0) >= 0
    assert limits_module._tasks_of_user(4_000_000) == 0


@pytest.mark.parametrize("machine", sorted(seccomp._MACHINES))
def test_system_call_filters_fit_every_machine(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "uname", lambda: type("Name", (), {"machine": machine}))
    rules = seccomp.without_namespaces((10, 11, -10), network=False)
    code = seccomp.program(rules)
    assert code
    assert len(code) % 8 == 0
    assert len(code) // 8 < 4096  # the kernel's BPF_MAXINSNS
    assert len(seccomp.program(seccomp.without_namespaces((10,), network=True))) < len(code)


def test_unknown_machines_have_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "uname", lambda: type("Name", (), {"machine": "vax"}))
    assert seccomp.program(seccomp.SURFACE) == b""
