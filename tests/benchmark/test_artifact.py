"""Artifact files: what is read, what is refused, and that nothing is executed."""

from __future__ import annotations

import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.artifact import Artifact, ArtifactError, load, save

numbers = st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(plain)
def test_json_survives_a_round_trip(tmp_path_factory: pytest.TempPathFactory, data: object) -> None:
    if isinstance(data, dict) and any(key.startswith("__simple") for key in data):
        return
    path = tmp_path_factory.mktemp("a") / "artifact.json"
    save(Artifact(data), path)  # type: ignore[arg-type]
    assert load(path).data == data


def test_npz_with_one_array_is_the_construction(tmp_path: Path) -> None:
    heights = np.linspace(0, 1, 7)
    save(Artifact(heights), tmp_path / "a.npz")
    read = load(tmp_path / "a.npz")
    assert np.array_equal(read.construction, heights)  # type: ignore[arg-type]
    save(Artifact(heights.tolist()), tmp_path / "a.json")
    assert load(tmp_path / "a.json").digest() == read.digest()


def test_fields_travel_beside_the_construction(tmp_path: Path) -> None:
    artifact = Artifact({"construction": [1.0, 2.0], "claim": 0.5, "n_points": 2})
    for name in ("a.json", "a.npz"):
        save(artifact, tmp_path / name)
        read = load(tmp_path / name)
        assert list(read.construction) == [1.0, 2.0]  # type: ignore[arg-type]
        assert read.get("claim") == 0.5
        assert read.get("n_points") == 2
    assert Artifact([1]).get("claim") is None


@pytest.mark.parametrize("tag", ["__simpletes_type__", "__simpleevolve_type__"])
def test_tagged_json_of_public_releases_is_read(tmp_path: Path, tag: str) -> None:
    array = {tag: "ndarray", "dtype": "float64", "shape": [2, 2], "data": [1, 2, 3, 4]}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(array))
    assert load(path).data == [[1.0, 2.0], [3.0, 4.0]]
    path.write_text(json.dumps({tag: "tuple", "items": [array, 0.25, 2]}))
    assert load(path).data == [[1.0, 2.0], [3.0, 4.0]]
    path.write_text(json.dumps({tag: "function"}))
    with pytest.raises(ArtifactError, match="unknown tagged type"):
        load(path)
    path.write_text(json.dumps({**array, "shape": [3, 2]}))
    with pytest.raises(ArtifactError, match="broken tagged array"):
        load(path)


@pytest.mark.parametrize("text", ["[NaN]", "[Infinity]", "[1, 2", "", "\xff", "[" * 100_000])
def test_what_is_no_strict_json_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ArtifactError, match=r"a\.json"):
        load(path)


class _Bomb:
    def __reduce__(self) -> tuple[object, tuple[str, ...]]:
        return (Path.touch, (Path("exploded"),))  # type: ignore[return-value]


def test_pickles_are_refused_and_not_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "a.npz", np.array([_Bomb()], dtype=object))
    with pytest.raises(ArtifactError, match="pickled objects"):
        load(tmp_path / "a.npz")
    (tmp_path / "b.npz").write_bytes(pickle.dumps(_Bomb()))
    with pytest.raises(ArtifactError, match="not a readable"):
        load(tmp_path / "b.npz")
    assert not (tmp_path / "exploded").exists()


def test_broken_archives_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(b"PK\x03\x04 garbage")
    with pytest.raises(ArtifactError, match="not a readable"):
        load(path)
    with zipfile.ZipFile(path, "w"):
        pass
    with pytest.raises(ArtifactError, match="no array"):
        load(path)
    np.savez(path, np.array([1j]))
    with pytest.raises(ArtifactError, match="dtype"):
        load(path)
    other = tmp_path / "a.pkl"
    other.touch()
    with pytest.raises(ArtifactError, match=r"\.json or \.npz"):
        load(other)


def test_nothing_half_written_is_left(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="NaN or infinite"):
        save(Artifact([float("nan")]), tmp_path / "a.json")
    with pytest.raises(ArtifactError, match="numbers only"):
        save(Artifact({"construction": "text"}), tmp_path / "a.npz")
    assert list(tmp_path.iterdir()) == []
