"""The contests' inputs: bit for bit those of their generators, kept and checked in the cache."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from shared_data import require_shared

from benchmark.evaluator import Unavailable
from tasks.algorithm_engineering import random_stream, ziggurat
from tasks.algorithm_engineering.ahc039 import generator as ahc039
from tasks.algorithm_engineering.ahc039.evaluator import PurseSeineFishing
from tasks.algorithm_engineering.ahc058 import generator as ahc058
from tasks.algorithm_engineering.caching import cache_folder, keep_newest, mark_used, write_whole
from tasks.algorithm_engineering.inputs import HELD_OUT_SEEDS, OFFICIAL_SEEDS, Inputs
from tasks.algorithm_engineering.random_stream import RandomStream

GENERATORS = {"ahc039": ahc039.generate, "ahc058": ahc058.generate}


def shipped_hashes(name: str) -> dict[int, str]:
    path = Path(ahc039.__file__).parents[1] / name / "data/input_hashes.json"
    return {int(seed): digest for seed, digest in json.loads(path.read_text()).items()}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_seed_expansion_and_first_words() -> None:
    key = random_stream.expand_seed(0)
    assert [f"{word:08x}" for word in key[:4]] == ["f973f2ec", "45cdb581", "7346f087", "ad6cad06"]
    assert [f"{word:08x}" for word in key[4:]] == ["e3a3d0d0", "67e71733", "72ea9bf2", "fe7d8ad7"]
    stream = RandomStream(0)
    words = [f"{stream.u32():08x}" for _ in range(4)]
    assert words == ["81f5f7b2", "063cded6", "6efd22a8", "fb65827e"]


def test_known_answers_of_the_generator() -> None:
    """Key words, key stream and the ziggurat's table, for three seeds."""
    known = json.loads((require_shared() / "data/ahc/input_hashes.json").read_text())
    answers = known["known_answers"]
    for seed, words in answers["seed_words"].items():
        assert [f"{word:08x}" for word in random_stream.expand_seed(int(seed))] == words
    for seed, words in answers["chacha20_first_16_u32"].items():
        stream = RandomStream(int(seed))
        assert [f"{stream.u32():08x}" for _ in range(16)] == words
    assert [repr(edge) for edge in ziggurat.EDGES[:4]] == answers["ziggurat_x_first4"]
    assert [repr(edge) for edge in ziggurat.EDGES[-3:]] == answers["ziggurat_x_last3"]
    table = json.dumps([edge.hex() for edge in ziggurat.EDGES])
    assert sha256(table.encode()) == answers["ziggurat_x_sha256_of_json_hexlist"]


def test_chacha20_of_the_standard() -> None:
    """RFC 8439, A.1, vector 1 and 2: key and nonce of zeros, blocks 0 and 1."""
    words = random_stream.chacha20_words([0] * 8, 0, 2)
    assert words.dtype == np.uint32
    assert words[:2].tobytes().hex() == "76b8e0ada0f13d90"
    assert words[16:18].tobytes().hex() == "9f07e7be5551387a"


def test_first_clusters() -> None:
    stream = RandomStream(0)
    clusters = ahc039.draw_clusters(stream)
    assert len(clusters.weights) == 18
    assert clusters.weights[0] == 0.4335500393119561
    assert clusters.centres[0] == (22410, 75791)
    assert clusters.spreads[0] == 1048
    assert stream.position == 95


def test_draws_ahead_are_those_one_by_one() -> None:
    """The precomputed normals, over a stretch with wedges and tails."""
    count = 20_000
    ahead, single = RandomStream(11), RandomStream(11)
    draws = ziggurat.NormalDraws(ahead, count)
    assert ahead.position == 0
    slow = set(draws.slow)
    assert 150 < len(slow) < 350  # 1.2 % of them
    place = compared = 0
    while place < count:
        value = ziggurat.normal(single)
        if place not in slow:
            assert value == draws.values[place]
            assert single.position == 2 * (place + 1)
            compared += 1
        place = single.position // 2
    assert compared > 0.95 * count


def test_rounding_of_halves() -> None:
    values = np.array([0.5, 1.5, -0.5, -2.5, 0.49999999999999994, 2.0, -7.2, 4503599627370495.5])
    assert random_stream.round_half_away(values).tolist() == [
        1, 2, -1, -3, 0, 2, -7, 4503599627370496,
    ]  # fmt: skip


@pytest.mark.parametrize("limit", [0.1, 1.0, 7.3, 1e5 / 3])
def test_scales_keep_the_limit(limit: float) -> None:
    largest = 1.0 - 2.0**-52
    below, up_to = random_stream.open_scale(limit), random_stream.closed_scale(limit)
    assert below * largest < limit
    assert up_to * largest <= limit
    assert below <= up_to


@pytest.mark.parametrize("name", GENERATORS)
def test_all_public_inputs(name: str) -> None:
    hashes = shipped_hashes(name)
    assert hashes.keys() == {*OFFICIAL_SEEDS, *HELD_OUT_SEEDS}
    wrong = [seed for seed in OFFICIAL_SEEDS if sha256(GENERATORS[name](seed)) != hashes[seed]]
    assert not wrong


@pytest.mark.parametrize("name", GENERATORS)
def test_some_held_out_inputs(name: str) -> None:
    hashes = shipped_hashes(name)
    for seed in (1000, 1074, 1149):
        assert sha256(GENERATORS[name](seed)) == hashes[seed]


@pytest.mark.parametrize("name", GENERATORS)
def test_seeds_beyond_the_contest(name: str) -> None:
    known = json.loads((require_shared() / "data/ahc/input_hashes.json").read_text())[name]
    assert known["sha256"] == [shipped_hashes(name)[seed] for seed in OFFICIAL_SEEDS]
    for seed, digest in known["extra_seeds_own_generator_only"].items():
        assert sha256(GENERATORS[name](int(seed))) == digest


def fake_inputs(folder: Path, generate: Callable[[int], bytes], **known: bytes) -> Inputs:
    path = folder / "input_hashes.json"
    path.write_text(json.dumps({seed[1:]: sha256(content) for seed, content in known.items()}))
    return Inputs("fake", generate, path)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return cache_folder("inputs", "fake")


def test_inputs_are_made_once_and_repaired(tmp_path: Path, empty_cache: Path) -> None:
    made = []

    def generate(seed: int) -> bytes:
        made.append(seed)
        return b"seven"

    inputs = fake_inputs(tmp_path, generate, s7=b"seven")
    assert inputs.text(7) == inputs.text(7) == b"seven"
    assert made == [7]
    (empty_cache / "7.txt").write_bytes(b"sev")  # torn
    assert inputs.text(7) == b"seven"
    assert made == [7, 7]
    assert [path.name for path in empty_cache.iterdir()] == ["7.txt"]


def test_unknown_seeds_are_not_cached(tmp_path: Path, empty_cache: Path) -> None:
    inputs = fake_inputs(tmp_path, lambda seed: b"%d" % seed)
    assert inputs.text(8) == b"8"
    assert not empty_cache.exists()


def test_another_input_than_the_contest_s_is_refused(tmp_path: Path, empty_cache: Path) -> None:
    inputs = fake_inputs(tmp_path, lambda seed: b"eight", s7=b"seven")
    with pytest.raises(Unavailable, match="rounds differently"):
        inputs.text(7)


def test_inputs_need_no_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fishing: PurseSeineFishing
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert sha256(fishing.inputs.text(0)) == shipped_hashes("ahc039")[0]
    with pytest.raises(Unavailable, match="XDG_CACHE_HOME"):
        write_whole(cache_folder("builds") / "x", b"")


def test_the_cache_forgets_what_was_not_used_longest(tmp_path: Path) -> None:
    for number in range(4):
        write_whole(tmp_path / f"{number}", bytes(400_000))
        os.utime(tmp_path / f"{number}", (number, number))
    assert mark_used(tmp_path / "0")
    assert not mark_used(tmp_path / "9")
    keep_newest(tmp_path, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "3"]
