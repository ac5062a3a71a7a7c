"""The ephemerides that trajectories may be scored under."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmark.data import data_file
from benchmark.evaluator import Setup, Unavailable
from benchmark.provenance import sha256_file
from tasks.astrodynamics.tools.orbits.ephemeris import Ephemeris
from tasks.astrodynamics.tools.orbits.spk import KernelError

SHIPPED = Path(__file__).parent / "data" / "de440_1970_2030.bsp"
"""Records of the Sun and the planets cut from DE440 (``rebuild_ephemeris.py`` makes it)."""

SHIPPED_SHA256 = "27a41209a4df380ace5d3c54650efce1f85f6d3d3021ba6654e588eb2c77d705"
OFFICIAL = "de430.bsp"
"""DE430, under which the published values were computed; declared in each ``task.toml``."""


@dataclass(frozen=True)
class Kernel:
    """A verified ephemeris file and what scores say about it."""

    label: str
    path: Path
    sha256: str
    ephemeris: Ephemeris

    @property
    def description(self) -> str:
        """Label, file name and checksum on one line."""
        return f"{self.label}: {self.path.name}, sha256 {self.sha256}"


def kernel_for(setup: Setup) -> Kernel:
    """The kernel that the option ``ephemeris`` asks for.

    Raises :class:`Unavailable` when the file is missing or is not the right one.
    """
    if setup.options.get("ephemeris") == "de430":
        declared = next(file for file in setup.task.declared.data if file.name == OFFICIAL)
        (sha256,) = declared.digests
        return _open("DE430", data_file(setup, OFFICIAL), sha256)
    if not SHIPPED.is_file():
        raise Unavailable(f"the ephemeris {SHIPPED.name} is missing; install evoduet again")
    if _sha256(SHIPPED) != SHIPPED_SHA256:
        raise Unavailable(
            f"the ephemeris {SHIPPED.name} has been changed; install evoduet again, or rebuild it "
            "with `python -m tasks.astrodynamics.rebuild_ephemeris`"
        )
    return _open("DE440", SHIPPED, SHIPPED_SHA256)


_sha256 = cache(sha256_file)


@cache
def _open(label: str, path: Path, sha256: str) -> Kernel:
    try:
        return Kernel(label, path, sha256, Ephemeris(path))
    except (KernelError, OSError) as error:
        raise Unavailable(f"the ephemeris {path.name} cannot be read: {error}") from None
