"""Finding Rust, and the cache of built routers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import routing_policies as policies
from routing_policies import Judge

from benchmark.evaluator import Unavailable
from benchmark.sandbox.session import Session
from tasks.quantum_compilation.swap_reduction import build_cache, building, toolchain
from tasks.quantum_compilation.swap_reduction.build_cache import BuildCache


def test_without_rust_the_rust_track_is_unavailable(
    judge: Judge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    toolchain.toolchain.cache_clear()
    try:
        with pytest.raises(Unavailable, match=r"rustc/cargo not found.*install"):
            judge(policies.RUST["none"], ".rs")
        (tmp_path / "rustc").write_text("#!/bin/sh\necho broken >&2; exit 1\n")
        (tmp_path / "rustc").chmod(0o755)
        (tmp_path / "cargo").symlink_to("rustc")
        with pytest.raises(Unavailable, match=r"rustc/cargo not found.*broken"):
            judge(policies.RUST["none"], ".rs")
        _, score = judge(policies.PYTHON["none"], ".py")
        assert score.objective is not None
    finally:
        toolchain.toolchain.cache_clear()


def test_builds_are_kept_and_checked(
    rust: None, session: Session, builds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = building.build_router(policies.RUST["none"], session)
    assert first.is_relative_to(builds)

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("built again")

    monkeypatch.setattr(building, "_compile", refuse)
    assert building.build_router(policies.RUST["none"], session) == first
    with pytest.raises(AssertionError, match="built again"):
        building.build_router(policies.RUST["none"].replace("None", "None // x"), session)


def test_a_damaged_build_is_made_again(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "routers")
    program = cache.keep("key", b"program")
    assert cache.find("key") == program
    assert program.stat().st_mode & 0o111
    program.write_bytes(b"something else")
    assert cache.find("key") is None
    assert cache.keep("key", b"program").read_bytes() == b"program"
    assert cache.find("key") == program
    assert cache.keep("key", b"program") == program
    assert [entry.name for entry in cache.folder.iterdir()] == ["key"]


def test_the_oldest_builds_are_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_cache, "MAX_BUILDS", 2)
    cache = BuildCache(tmp_path)
    for age, key in ((30, "old"), (20, "middle")):
        cache.keep(key, key.encode())
        os.utime(tmp_path / key, (1e9 - age, 1e9 - age))
    assert cache.find("old") is not None  # which makes it the newest
    cache.keep("new", b"new")
    assert cache.find("middle") is None
    assert cache.find("old") is not None
    assert cache.find("new") is not None


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="XDG_CACHE_HOME"):
        BuildCache(tmp_path / "file" / "routers").keep("key", b"program")
