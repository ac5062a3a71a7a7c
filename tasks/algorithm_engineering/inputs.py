"""The contest inputs: made from their seeds, checked by their known hashes, kept in the cache."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from benchmark.evaluator import Unavailable
from tasks.algorithm_engineering.caching import cache_folder, write_whole

OFFICIAL_SEEDS = range(150)
HELD_OUT_SEEDS = range(1000, 1150)


class Inputs:
    """Input files of one contest by seed.

    ``hash_file`` is a JSON object seed -> sha256. An input whose hash is known is compared with it
    whenever it is made or read, and only such inputs are cached; any other seed is generated anew.
    """

    def __init__(self, contest: str, generate: Callable[[int], bytes], hash_file: Path) -> None:
        self._contest = contest
        self._generate = generate
        self._known = _hashes(hash_file)

    def text(self, seed: int) -> bytes:
        """The input file of a seed; raises :class:`Unavailable` when it comes out wrong here."""
        known = self._known.get(seed)
        if known is None:
            return self._generate(seed)
        path = cache_folder("inputs", self._contest, f"{seed}.txt")
        try:
            content = path.read_bytes()
        except OSError:
            content = b""
        if _sha256(content) != known:
            content = self._generate(seed)
            if _sha256(content) != known:
                raise Unavailable(
                    f"input {seed} of {self._contest} has another sha256 than the contest's: this "
                    "machine's exp, log or pow rounds differently; use another libm or machine"
                )
            with suppress(Unavailable):  # it can be made again
                write_whole(path, content)
        return content


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@cache
def _hashes(path: Path) -> dict[int, str]:
    return {int(seed): digest for seed, digest in json.loads(path.read_text()).items()}
