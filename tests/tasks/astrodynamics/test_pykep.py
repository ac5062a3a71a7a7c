"""An independent cross-check of Lambert arcs and propagation with the field's library, pykep."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tasks.astrodynamics.tools.orbits.constants import AU_KM, DAY_S, MU_SUN
from tasks.astrodynamics.tools.orbits.kepler import propagate
from tasks.astrodynamics.tools.orbits.lambert import solutions


@pytest.fixture(scope="module")
def pykep() -> Any:
    try:
        import pykep
    except (ImportError, OSError) as error:  # the wheel 3.0.1 lacks data files that it reads
        pytest.skip(f"import pykep fails: {type(error).__name__}: {error}")
    return pykep


def test_lambert_and_propagation_agree(pykep: Any) -> None:
    rng = np.random.default_rng(2015)
    for _ in range(300):
        r0, r1 = rng.normal(size=(2, 3)) * rng.uniform(0.5, 6.0, (2, 1)) * AU_KM
        tof = rng.uniform(50.0, 3000.0) * DAY_S
        theirs = pykep.lambert_problem(r0=r0, r1=r1, tof=tof, mu=MU_SUN, cw=False, multi_revs=3)
        ours = list(solutions(r0, r1, tof, MU_SUN, max_revs=3))
        assert len(ours) == len(theirs.v0)
        for _, _, v0, v1 in ours:
            nearest = min(
                np.abs(np.concatenate([v0, v1]) - np.concatenate(pair)).max()
                for pair in zip(theirs.v0, theirs.v1, strict=True)
            )
            assert nearest < 1e-8
        v0 = rng.normal(size=3) * 20.0
        r, v = pykep.propagate_lagrangian(rv=[r0, v0], tof=tof, mu=MU_SUN, stm=False)
        own_r, own_v = propagate(r0, v0, tof, MU_SUN)
        assert np.linalg.norm(own_r - r) < 1e-9 * np.linalg.norm(r)
        assert np.linalg.norm(own_v - v) < 1e-9 * np.linalg.norm(v)
