"""Cross-coupling: parity, the emulator written out, its ceiling, bounds, and its public files."""

from __future__ import annotations

import hashlib
import io
import json
import math
import pickle
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import evaluator_for
from simple_science_cases import Vector, drawn, program_returning, scored, vectors, verdict

from benchmark import evaluate
from benchmark.catalogue import find_task
from benchmark.checksums import array_digests
from benchmark.evaluator import Invalid
from tasks.simple_science.baumgartner import source
from tasks.simple_science.baumgartner.evaluator import BASES, BOUNDS, CATALYSTS, CrossCoupling

TASK = "baumgartner"
FLOAT32 = 2e-6
pytestmark = pytest.mark.usefixtures("official_data")

NUMBERS = st.tuples(*(st.floats(low, high) for low, high in BOUNDS.values()))


def conditions(
    catalyst: Any, base: Any, base_equivalents: Any, temperature: Any, t_res: Any
) -> dict[str, Any]:
    return {
        "catalyst": catalyst,
        "base": base,
        "base_equivalents": base_equivalents,
        "temperature": temperature,
        "t_res": t_res,
    }


REFERENCE = conditions("AlPhos", "BTMG", 2.25, 99.89, 1763.66)
CEILING = conditions("AlPhos", "BTMG", 1.35, 30, 570)


def cross_coupling() -> CrossCoupling:
    evaluator = evaluator_for(TASK)
    assert isinstance(evaluator, CrossCoupling)
    return evaluator


@pytest.fixture(scope="module")
def files(official_data: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Weights in double precision, and the constants beside them."""
    folder = official_data / "baumgartner"
    with np.load(folder / "weights.npz") as archive:
        weights = {name: archive[name].astype(float) for name in archive.files}
    return weights, json.loads((folder / "scalers.json").read_text())


def yields(files: tuple[dict[str, Any], dict[str, Any]], chosen: dict[str, Any]) -> list[float]:
    """Unclipped predictions of the five networks, neuron by neuron, in double precision."""
    weights, scalers = files
    numbers = [chosen[name] for name in scalers["continuous_order"]]
    one_hot = [float(level == chosen["catalyst"]) for level in scalers["catalyst_levels"]]
    one_hot += [float(level == chosen["base"]) for level in scalers["base_levels"]]
    found = []
    for i in range(5):
        scaled = [
            (number - mean) / scale
            for number, mean, scale in zip(
                numbers, scalers["in_mean"][i], scalers["in_scale"][i], strict=True
            )
        ]
        inputs = scaled + one_hot
        hidden = [
            max(0.0, math.fsum(w * x for w, x in zip(row, inputs, strict=True)) + bias)
            for row, bias in zip(weights["w1"][i].tolist(), weights["b1"][i].tolist(), strict=True)
        ]
        output = math.fsum(w * h for w, h in zip(weights["w2"][i].tolist(), hidden, strict=True))
        output += float(weights["b2"][i])
        found.append(output * scalers["out_scale"][i] + scalers["out_mean"][i])
    return found


# --- parity and anchors ---------------------------------------------------------------------------


@pytest.mark.parametrize("vector", vectors(TASK))
def test_parity(vector: Vector) -> None:
    vector.check(verdict(TASK, vector.answer))


@pytest.mark.parametrize("vector", vectors(TASK, "tmg_mid", "equivalents_2.51", "extra_key"))
def test_parity_of_programs(vector: Vector, tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(vector.answer)))
    assert result.status == ("valid" if vector.valid else "invalid")
    assert result.search == (pytest.approx(vector.score, abs=FLOAT32) if vector.valid else None)


def test_initial_program_is_x0() -> None:
    result = evaluate(TASK, find_task(TASK).initial_program)
    assert result.search == result.objective == pytest.approx(0.6551045775413513, abs=FLOAT32)
    assert result.ndg == pytest.approx(0, abs=1e-3)
    assert scored(TASK, conditions("tBuXPhos", "DBU", 1.75, 65, 930)).search == result.search


def test_reference_conditions_are_the_sota(tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(REFERENCE)))
    assert result.search == pytest.approx(0.9770283699035645, abs=FLOAT32)
    assert result.metrics["unclipped_mean"] == pytest.approx(1.0295, abs=5e-5)
    assert result.metrics["clipped_members"] == 2
    assert result.ndg == pytest.approx(100, abs=1e-3)


def test_the_ceiling_prints_as_in_the_paper(tmp_path: Path) -> None:
    result = evaluate(TASK, program_returning(tmp_path, repr(CEILING)))
    assert result.search == 1.0
    assert f"{result.ndg:.1f}" == "107.1"


# --- the emulator ---------------------------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(st.sampled_from(CATALYSTS), st.sampled_from(BASES), NUMBERS)
def test_score_is_that_of_the_networks_written_out(
    files: tuple[dict[str, Any], dict[str, Any]],
    catalyst: str,
    base: str,
    numbers: tuple[float, float, float],
) -> None:
    chosen = conditions(catalyst, base, *numbers)
    members = np.array(yields(files, chosen))
    clipped = np.clip(members, 0, 1)
    score = scored(TASK, chosen)
    assert score.search == score.objective == pytest.approx(clipped.mean(), abs=1e-5)
    assert score.metrics["unclipped_mean"] == pytest.approx(members.mean(), abs=1e-5)
    assert score.metrics["standard_deviation"] == pytest.approx(clipped.std(), abs=1e-5)


def test_each_network_is_clipped_before_the_mean() -> None:
    members = cross_coupling().emulator.members((2.25, 99.89, 1763.66), (2, 1))
    assert members.dtype == np.float32
    assert members.mean() > 1
    assert scored(TASK, REFERENCE).search == pytest.approx(np.clip(members, 0, 1).mean())


def test_weak_bases_stay_below_and_strong_ones_reach_the_ceiling() -> None:
    emulator = cross_coupling().emulator
    low, high = np.array(list(BOUNDS.values())).T
    numbers = np.random.default_rng(0).uniform(low, high, size=(4000, 3))

    def best(catalyst: int, base: int) -> Any:
        return np.clip(emulator.grid(numbers, (catalyst, base)), 0, 1).mean(axis=0)

    tea = max(best(catalyst, BASES.index("TEA")).max() for catalyst in range(3))
    tmg = max(best(catalyst, BASES.index("TMG")).max() for catalyst in range(3))
    assert 0.25 < tea < 0.33
    assert 0.85 < tmg < 0.96
    for base in ("DBU", "BTMG"):
        for catalyst in range(3):
            assert best(catalyst, BASES.index(base)).max() > 0.97
    strong = np.concatenate([best(2, BASES.index(base)) for base in ("DBU", "BTMG")])
    assert 0.01 < (strong == 1).mean() < 0.06


def test_rows_of_a_grid_are_single_experiments() -> None:
    emulator = cross_coupling().emulator
    numbers = np.random.default_rng(1).uniform(*np.array(list(BOUNDS.values())).T, size=(20, 3))
    together = emulator.grid(numbers, (1, 2))
    alone = [emulator.members(row, (1, 2)) for row in numbers.tolist()]
    np.testing.assert_allclose(together.T, alone, atol=1e-5)


# --- payload and rules ----------------------------------------------------------------------------


def test_payload_is_public_and_in_order() -> None:
    payload: Any = cross_coupling().payload()
    assert payload == {
        "catalysts": ["tBuXPhos", "tBuBrettPhos", "AlPhos"],
        "bases": ["DBU", "BTMG", "TMG", "TEA"],
        "bounds": {"base_equivalents": [1, 2.5], "temperature": [30, 100], "t_res": [60, 1800]},
        "objective": "maximize ensemble predicted yield",
        "units": {
            "temperature": "degree Celsius",
            "t_res": "seconds",
            "base_equivalents": "equivalents",
        },
    }
    assert list(payload["bounds"]) == ["base_equivalents", "temperature", "t_res"]


@pytest.mark.parametrize(("name", "bounds"), BOUNDS.items())
def test_bounds_are_closed_and_exact(name: str, bounds: tuple[float, float]) -> None:
    for bound, outwards in zip(bounds, (-math.inf, math.inf), strict=True):
        assert verdict(TASK, {**REFERENCE, name: bound}) is not None
        with pytest.raises(Invalid, match=f"{name} must lie in"):
            scored(TASK, {**REFERENCE, name: math.nextafter(bound, outwards)})


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({**REFERENCE, "catalyst": "XPhos"}, "catalyst must be one of tBuXPhos"),
        ({**REFERENCE, "catalyst": "alphos"}, "catalyst must be one of"),
        ({**REFERENCE, "base": "AlPhos"}, "base must be one of DBU"),
        ({**REFERENCE, "base": 1}, "base must be text; got int"),
        ({**REFERENCE, "catalyst": None}, "catalyst must be text; got NoneType"),
        ({**REFERENCE, "temperature": True}, "temperature must be a number; got bool"),
        ({**REFERENCE, "temperature": "65"}, "temperature must be a number; got str"),
        ({**REFERENCE, "t_res": [930]}, "t_res must be a number; got list"),
        ({**REFERENCE, "t_res": float("nan")}, "finite"),
        ({**REFERENCE, "t_res": float("inf")}, "finite"),
        ({**REFERENCE, "t_res": 10**400}, "t_res is an integer too large"),
        ({**REFERENCE, "yield": 1.0}, "only the keys catalyst, base, base_equivalents"),
        ({"catalyst": "AlPhos", "base": "BTMG"}, "lacks the keys base_equivalents, temperature"),
        (list(REFERENCE.values()), "must be a dictionary"),
        (None, "must be a dictionary"),
    ],
)
def test_reasons_name_the_broken_rule(answer: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        scored(TASK, answer)


def test_numpy_values_score_like_plain_ones(tmp_path: Path) -> None:
    expression = (
        '{"catalyst": np.array(["AlPhos"])[0], "base": "BTMG", "base_equivalents": '
        'np.float64(2.25), "temperature": np.float64(99.89), "t_res": np.float64(1763.66)}'
    )
    result = evaluate(TASK, program_returning(tmp_path, expression))
    assert result.search == scored(TASK, REFERENCE).search
    assert scored(TASK, {**CEILING, "t_res": np.int64(570)}) == scored(TASK, CEILING)


# --- files ----------------------------------------------------------------------------------------


class _Storage:
    def __init__(self, key: str, size: int) -> None:
        self.key, self.size = key, size


@pytest.fixture
def layout(monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The pickle that torch writes for four float32 tensors of these names and shapes."""

    class FloatStorage: ...

    def _rebuild_tensor_v2() -> None: ...

    class Tensor:
        def __init__(self, key: str, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
            storage = _Storage(key, math.prod(shape))
            self.parts = (storage, 0, shape, strides, False, OrderedDict())

        def __reduce_ex__(self, protocol: Any) -> Any:
            return _rebuild_tensor_v2, self.parts

    for module, item in (("torch", FloatStorage), ("torch._utils", _rebuild_tensor_v2)):
        item.__module__, item.__qualname__ = module, item.__name__
        monkeypatch.setitem(sys.modules, module, types.ModuleType(module))
        setattr(sys.modules[module], item.__name__, item)

    class Pickler(pickle.Pickler):
        def persistent_id(self, entry: Any) -> Any:
            if isinstance(entry, _Storage):
                return "storage", FloatStorage, entry.key, "cpu", entry.size
            return None

    shapes = {
        "input_layer.weight": ([512, 10], [10, 1]),
        "input_layer.bias": ([512], [1]),
        "output_layer.weight": ([1, 512], [512, 1]),
        "output_layer.bias": ([1], [1]),
    }
    tensors: Any = OrderedDict(
        (name, Tensor(str(key), tuple(shape), tuple(strides)))
        for key, (name, (shape, strides)) in enumerate(shapes.items())
    )
    tensors._metadata = OrderedDict(
        (name, {"version": 1}) for name in ("", "input_layer", "output_layer")
    )
    content = io.BytesIO()
    Pickler(content, protocol=2).dump(tensors)
    return content.getvalue()


def write_networks(folder: Path, layout: bytes, weights: Path, **changed: bytes) -> list[Path]:
    """Five network files with these weights; ``changed`` replaces members of the last one."""
    paths = []
    with np.load(weights) as archive:
        arrays = [archive[name].astype("<f4") for name in ("w1", "b1", "w2", "b2")]
    for i in range(5):
        members = {f"data/{key}": array[i].tobytes() for key, array in enumerate(arrays)}
        members = {"data.pkl": layout, **members, "version": b"3\n"}
        if i == 4:
            members |= changed
        path = folder / f"network_{i}.pt"
        with zipfile.ZipFile(path, "w") as file:
            for name, content in members.items():
                file.writestr(f"archive/{name}", content)
        paths.append(path)
    return paths


def test_network_files_become_the_weights(
    layout: bytes, official_data: Path, tmp_path: Path
) -> None:
    assert hashlib.sha256(layout).hexdigest() == source.PICKLE_SHA256
    original = official_data / "baumgartner" / "weights.npz"
    target = tmp_path / ".weights.npz.new"
    source.weights(write_networks(tmp_path, layout, original), target)
    assert array_digests(target) == array_digests(original)
    declared = next(file for file in find_task(TASK).declared.data if file.name == "weights.npz")
    assert declared.check is not None
    assert array_digests(target) == declared.check.arrays


@pytest.mark.parametrize(
    "changed",
    [
        {"data.pkl": b"cos\nsystem\n(S'true'\ntR." + b"." * 502},
        {"data/3": b"12345678"},
        {"extra": b""},
    ],
    ids=["other pickle", "other size", "other member"],
)
def test_other_network_files_are_refused(
    changed: dict[str, bytes], layout: bytes, official_data: Path, tmp_path: Path
) -> None:
    original = official_data / "baumgartner" / "weights.npz"
    paths = write_networks(tmp_path, layout, original, **changed)
    with pytest.raises(ValueError, match=r"network_4.pt: (other members|the layout)"):
        source.weights(paths, tmp_path / "weights.npz")
    assert not (tmp_path / "weights.npz").exists()


def test_model_file_becomes_the_scalers(official_data: Path, tmp_path: Path) -> None:
    original = official_data / "baumgartner" / "scalers.json"
    scalers = json.loads(original.read_text())
    numbers = [{"name": name, "bounds": [0, 1]} for name in scalers["continuous_order"]]
    model = {
        "domain": [
            {"name": "catalyst", "levels": scalers["catalyst_levels"]},
            {"name": "base", "levels": scalers["base_levels"]},
            *numbers,
            {"name": "yld", "is_objective": True},
        ],
        "experiment_params": {
            "predictors": [
                {
                    "input_preprocessor": {"num": {"mean_": mean, "scale_": scale, "var_": []}},
                    "output_preprocessor": {"mean_": [out_mean], "scale_": [out_scale]},
                }
                for mean, scale, out_mean, out_scale in zip(
                    *(scalers[name] for name in ("in_mean", "in_scale", "out_mean", "out_scale")),
                    strict=True,
                )
            ]
        },
    }
    path, target = tmp_path / "model.json", tmp_path / "scalers.json"
    path.write_text(json.dumps(model))
    source.scalers([path], target)
    assert target.read_bytes() == original.read_bytes()


def test_weights_packed_otherwise_are_the_same_and_others_are_not(
    official_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Zlib builds pack differently; the wheel of the emulator has other weights."""
    mirror = tmp_path / "mirror" / "baumgartner"
    mirror.mkdir(parents=True)
    original = official_data / "baumgartner"
    (mirror / "scalers.json").write_bytes((original / "scalers.json").read_bytes())
    with np.load(original / "weights.npz") as archive:
        arrays = dict(archive)
    monkeypatch.setenv("EVODUET_DATA_MIRROR", str(mirror.parent))
    monkeypatch.setenv("EVODUET_DATA", str(tmp_path / "cache"))
    program = program_returning(tmp_path, repr(CEILING))

    np.savez(mirror / "weights.npz", **arrays)
    assert evaluate(TASK, program).search == 1.0
    np.savez(mirror / "weights.npz", **{**arrays, "w1": arrays["w1"] + np.float32(1e-6)})
    result = evaluate(TASK, program)
    assert result.status == "unavailable"
    assert "has other arrays than expected (w1)" in result.reason


def test_other_inputs_than_in_the_payload_are_noticed(tmp_path: Path) -> None:
    evaluator = cross_coupling()
    scalers = json.loads(evaluator._scalers.read_text())
    scalers["base_levels"].reverse()
    evaluator._scalers = tmp_path / "scalers.json"
    evaluator._scalers.write_text(json.dumps(scalers))
    with pytest.raises(ValueError, match="other inputs, or another order"):
        _ = evaluator.emulator


def test_picture_shows_members_and_surroundings() -> None:
    left, right, _ = drawn(TASK, REFERENCE).axes
    assert len(left.patches) == 5
    assert "0.9770" in left.get_title()
    (marker,) = right.lines
    assert (list(marker.get_xdata()), list(marker.get_ydata())) == ([1763.66], [99.89])
