"""Circle packing, n = 26 and 32: parity cases, element rules, strict totals, anchors."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from shared_data import evaluator_for, parity_files, read_case, through_the_wire, typed_value

from benchmark import Artifact, Invalid, Score, evaluate
from benchmark.artifact import load, save, to_json
from benchmark.catalogue import find_task
from tasks.mathematics.exact_packing import ExactPacking, certificate
from tasks.mathematics.packing import TOLERANCE, feasible_gaps, strict_sum

TASKS = {"cp26": 26, "cp32": 32}


def score(task: str, returned: Any) -> Score:
    evaluator = evaluator_for(task)
    return evaluator.score(evaluator.convert(through_the_wire(returned)), "search")


def grid(n: int = 26, radius: float = 0.05) -> np.ndarray:
    """Separate circles on a grid of 6 by 6 points."""
    points = [((i + 0.5) / 6, (j + 0.5) / 6, radius) for i in range(6) for j in range(6)]
    return np.array(points[:n])


def circles_of(shared: Path, task: str, name: str) -> np.ndarray:
    return np.array(json.loads((shared / "data" / task / name).read_text()))


@pytest.mark.parametrize("path", parity_files("cp26") + parity_files("cp32"))
def test_parity(path: Path) -> None:
    case = read_case(path)
    circles = typed_value(case["input"]["return"]["circles"])
    expected = case["expected"]
    evaluator = evaluator_for(case["task"])
    for returned in (circles, (circles, 1.0), (circles,)):
        if not expected["valid"]:
            with pytest.raises(Invalid):
                score(case["task"], returned)
            continue
        found = score(case["task"], returned)
        assert found.objective == pytest.approx(expected["sum_radii"], rel=1e-10)
        assert found.search == pytest.approx(expected["search_score"], rel=1e-10)
        assert found.metrics["sum_radii"] == found.objective
    if expected["valid"]:
        stored = Artifact(to_json(np.asarray(circles)))
        assert evaluator.score(stored, "search") == found


@pytest.mark.parametrize("task", TASKS)
def test_initial_program_gives_x0(task: str) -> None:
    declared = find_task(task)
    evaluation = evaluate(task, declared.initial_program)
    assert evaluation.status == "valid", evaluation.reason
    x0 = declared.declared.anchors.initial.value
    assert evaluation.objective == pytest.approx(x0, abs=1e-12)
    assert evaluation.ndg == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("task", TASKS)
def test_initial_construction_is_the_described_one(task: str, shared: Path) -> None:
    evaluation = evaluate(task, find_task(task).initial_program)
    assert evaluation.artifact is not None
    circles = np.asarray(evaluation.artifact.construction)
    np.testing.assert_allclose(circles, circles_of(shared, task, "initial.json"), atol=1e-15)


@pytest.mark.parametrize(
    ("task", "overlapping", "worst"), [("cp26", 47, -9.994e-13), ("cp32", 57, -9.122e-13)]
)
def test_released_packing_is_the_sota(
    task: str, overlapping: int, worst: float, shared: Path
) -> None:
    path = shared / "data" / task / "released.json"
    evaluation = evaluate(task, artifact=path, exact=True)
    sota = find_task(task).declared.anchors.sota.value
    assert evaluation.objective == pytest.approx(sota, abs=1e-12)
    assert evaluation.ndg == pytest.approx(100.0, abs=1e-9)
    facts = evaluation.certificate
    assert facts["strictly overlapping pairs"] == str(overlapping)
    assert float(facts["smallest gap of a pair"].split()[0]) == pytest.approx(worst, rel=1e-3)
    # subtracting 5e-13 everywhere is known to be enough, a little less is found here
    strict = evaluation.metrics["strict_sum"]
    assert sota - TASKS[task] * 5e-13 < strict < sota
    assert facts["strict_sum"].startswith(repr(strict)[:14])


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_stored_artifact_scores_alike(suffix: str, tmp_path: Path) -> None:
    save(Artifact(grid()), tmp_path / f"packing{suffix}")
    evaluator = evaluator_for("cp26")
    stored = evaluator.score(load(tmp_path / f"packing{suffix}"), "search")
    assert stored == score("cp26", (grid(), 99.0))
    assert stored.objective == pytest.approx(1.3)


def test_rows_of_other_numbers_are_read() -> None:
    expected = score("cp26", grid(radius=0.0625))
    rows = grid(radius=0.0625).tolist()
    assert score("cp26", tuple(map(tuple, rows))) == expected
    assert score("cp26", [rows, 1.625][0]) == expected
    assert score("cp26", [np.array(row) for row in rows]) == expected
    single = grid(radius=0.0625).astype(np.float32)
    assert score("cp26", single).objective == expected.objective
    assert score("cp26", np.zeros((26, 3), dtype=np.int8)).objective == 0.0


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (None, "type NoneType"),
        ("circles", "type str"),
        ({"circles": 1}, "type dict"),
        (3.0, "type float"),
        ((), "shape"),
        ([], "shape"),
        ([[0.5, 0.5, 0.1]] * 25 + [[0.5, 0.5]], "not 26 rows"),
        ([[0.5, 0.5, 10**400]] * 26, "real numbers"),
        ([[10**400, 0.5, 0.5]] * 26, "numbers"),
        ([["0.5", "0.5", "0.0"]] * 26, "real numbers"),
        ([[0.5, 0.5, None]] * 26, "real numbers"),
        (tuple([[0.5, 0.5, [0.0]]] * 26), "not 26 rows"),
        (np.zeros((26, 3), dtype=complex), "real numbers"),
        (np.zeros((3, 26)), "shape"),
        (np.zeros((1, 26, 3)), "shape"),
        (np.full((26, 3), -np.inf), "finite"),
        (np.full((26, 3), 1.7e308), "crosses the"),
        ([grid().tolist(), 1.3], "not 26 rows"),
    ],
)
def test_other_values_are_invalid(returned: Any, reason: str) -> None:
    with pytest.raises(Invalid, match=reason):
        score("cp26", returned)


@pytest.mark.parametrize("construction", [None, "x", 1.0, {"a": 1}, [1, 2], [[0.5] * 3] * 27])
def test_stored_nonsense_is_invalid(construction: Any) -> None:
    with pytest.raises(Invalid):
        evaluator_for("cp26").score(Artifact(construction), "search")


@pytest.mark.parametrize(
    ("index", "column", "value", "wall"),
    [(0, 0, 0.04, "left"), (0, 1, 0.04, "bottom"), (25, 0, 0.96, "right"), (23, 1, 0.96, "top")],
)
def test_walls(index: int, column: int, value: float, wall: str) -> None:
    circles = grid()
    circles[index, column] = value
    with pytest.raises(Invalid, match=f"circle {index} crosses the {wall} wall .* by 0.01"):
        score("cp26", circles)


@pytest.mark.parametrize(("excess", "valid"), [(0.9e-12, True), (1.1e-12, False)])
def test_tolerance_at_walls_and_between_circles(excess: float, valid: bool) -> None:
    at_wall, between = grid(), grid()
    at_wall[25, 0] = 0.95 + excess
    between[[1, 7], :2] = [[0.2, 0.25], [0.3 - excess, 0.25]]
    for circles, reason in ((at_wall, "right wall"), (between, "circles 1 and 7 overlap")):
        if valid:
            assert score("cp26", circles).objective == pytest.approx(1.3)
        else:
            with pytest.raises(Invalid, match=reason):
                score("cp26", circles)


def test_strict_sum_of_a_packing_with_one_overlap() -> None:
    circles = np.full((26, 3), [0.75, 0.75, 0.0])
    circles[:2] = [[0.25, 0.25, 0.125 + 2**-41], [0.5, 0.25, 0.125]]
    assert score("cp26", circles).metrics["strict_sum"] == 0.25 + 2**-41 - 2 * 2**-42


def test_strict_sum_when_the_smaller_circle_is_used_up() -> None:
    # a point 2^-41 inside a circle: only the circle can give way
    circles = np.full((26, 3), [0.75, 0.75, 0.0])
    circles[:2] = [[0.25, 0.25, 0.125 + 2**-41], [0.375, 0.25, 2**-60]]
    assert score("cp26", circles).metrics["strict_sum"] == 0.125


def test_strict_sum_is_at_most_the_exact_total() -> None:
    # 0.1 three times and more: the exact sum of these doubles lies between two doubles
    total = ExactPacking(grid(radius=0.07)).total()
    strict = score("cp26", grid(radius=0.07)).metrics["strict_sum"]
    assert strict <= total < math.nextafter(strict, 1e9)


def test_no_strict_sum_for_a_centre_outside() -> None:
    circles = grid(radius=0.0)
    circles[3, 0] = -5e-13
    found = score("cp26", circles)
    assert found.objective == 0.0
    assert "strict_sum" not in found.metrics
    assert certificate(circles)["strict_sum"].startswith("none")


def test_certificate_counts_crossed_walls() -> None:
    circles = grid()
    circles[0, 0] = 0.05 - 2**-42
    facts = certificate(circles)
    assert facts["strictly crossed walls"] == "1"
    assert facts["smallest gap to a wall"].endswith("(circle 0, left)")
    assert float(facts["uniform reduction"]) == pytest.approx(2**-42, rel=1e-4)


def test_feedback_names_loose_circles(shared: Path) -> None:
    released = score("cp26", circles_of(shared, "cp26", "released.json"))
    assert "58 between circles, 20 with walls; every circle has at least 3" in released.feedback
    assert "26 circles with fewer than 3" in score("cp26", grid()).feedback


def test_screening_by_doubles_loses_nothing(shared: Path) -> None:
    for task, n in TASKS.items():
        for name in ("initial.json", "released.json"):
            circles = circles_of(shared, task, name)
            packing = ExactPacking(circles)
            everything = packing.twice_reduction(
                ((i, j) for i in range(n) for j in range(i)),
                ((wall, i) for wall in range(4) for i in range(n)),
            )
            strict = strict_sum(circles, feasible_gaps(circles))
            assert strict is not None
            assert strict <= packing.total(everything) < math.nextafter(strict, 1e9)
            assert everything <= 2 * TOLERANCE * packing.unit


@pytest.mark.parametrize("task", TASKS)
def test_picture(task: str) -> None:
    figure = Figure()
    evaluator_for(task).draw(Artifact(grid(TASKS[task], 1 / 12)), figure)
    (axes,) = figure.axes
    assert f"{TASKS[task]} circles" in axes.get_title()
    assert len(axes.patches) == TASKS[task]


def test_released_style_program_with_warm_start(tmp_path: Path) -> None:
    save(Artifact(grid(radius=0.0625)), tmp_path / "best.json")
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\n"
        "def run_code():\n"
        "    circles = np.array(GLOBAL_BEST_CONSTRUCTION)\n"
        "    return circles, np.sum(circles[:, 2])\n"
    )
    warm = evaluate("cp26", program, options={"warm_start": str(tmp_path / "best.json")})
    assert warm.objective == 26 * 0.0625
    assert evaluate("cp26", program).status == "crashed"
