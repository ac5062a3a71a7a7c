"""Purse seine fishing: the contest tester's verdicts, and our checker beside a plain one."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from shared_data import parity_files, read_case

from benchmark import evaluate
from benchmark.artifact import Artifact
from benchmark.evaluation import prepare
from benchmark.evaluator import Invalid, Unavailable
from benchmark.pictures import save_picture
from tasks.algorithm_engineering.ahc039.evaluator import PurseSeineFishing
from tasks.algorithm_engineering.ahc039.polygon import Polygon, last_polygon
from tasks.algorithm_engineering.cases import WrongAnswer

Vertices = list[tuple[int, int]]


@pytest.mark.parametrize("path", parity_files("ahc", "ahc039_outputs.json"))
def test_parity(path: Path, fishing: PurseSeineFishing) -> None:
    """Verdict and score of the contest's own tester, alone and among other cases."""
    cases = read_case(path, numbers=False)
    assert len(cases) >= 56
    for case in cases:
        entry = {"seed": case["seed"], "stdout": case["input"]["stdout"]}
        expected = case["expected"]
        if expected["valid"]:
            score = fishing.score(Artifact([entry]), "search")
            assert score.objective == score.search == expected["score"], case["case"]
        else:
            with pytest.raises(Invalid, match=r"^WA: "):
                fishing.score(Artifact([entry]), "search")
    entries: Any = [{"seed": c["seed"], "stdout": c["input"]["stdout"]} for c in cases]
    together = fishing.case_scores(Artifact(entries))
    wanted = [c["expected"]["score"] if c["expected"]["valid"] else None for c in cases]
    assert [case.score for case in together] == wanted


@pytest.mark.parametrize("path", parity_files("ahc", "ahc039_outputs.json"))
def test_parity_through_the_harness(path: Path, need_compiler: None) -> None:
    """A stored artifact: valid cases get their score, invalid ones none."""
    for case in read_case(path, numbers=False)[::7]:
        artifact = Artifact([{"seed": case["seed"], "stdout": case["input"]["stdout"]}])
        result = evaluate("ahc039", artifact=artifact)
        assert result.valid == case["expected"]["valid"]
        assert (result.objective or 0) == case["expected"]["score"]


def winding_contains(vertices: Vertices, x: int, y: int) -> bool:
    """Closed region, one point, by crossings of a ray between the lattice lines."""
    inside = False
    for (x1, y1), (x2, y2) in zip(vertices, vertices[1:] + vertices[:1], strict=True):
        if min(x1, x2) <= x <= max(x1, x2) and min(y1, y2) <= y <= max(y1, y2):
            return True
        if x1 == x2 and x1 < x and min(y1, y2) <= y < max(y1, y2):
            inside = not inside
    return inside


def is_valid_plainly(vertices: Vertices) -> bool:
    """The rules as the statement has them, all pairs of edges."""
    n = len(vertices)
    edges = [(vertices[i], vertices[(i + 1) % n]) for i in range(n)]
    if not 4 <= n <= 1000 or sum(math.dist(a, b) for a, b in edges) > 400_000:
        return False
    if any((a[0] == b[0]) == (a[1] == b[1]) for a, b in edges):
        return False
    for i in range(n):
        for j in range(i):
            shared = common_box(edges[i], edges[j])
            if shared is None:
                continue
            neighbours = i - j in (1, n - 1)
            if not neighbours or shared[0] != shared[1]:
                return False
    return True


def common_box(
    first: tuple[tuple[int, int], tuple[int, int]], second: tuple[tuple[int, int], tuple[int, int]]
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """What two closed segments share, as the corners of a box."""
    low = tuple(max(min(first[0][k], first[1][k]), min(second[0][k], second[1][k])) for k in (0, 1))
    high = tuple(
        min(max(first[0][k], first[1][k]), max(second[0][k], second[1][k])) for k in (0, 1)
    )
    if low[0] > high[0] or low[1] > high[1]:
        return None
    return (low[0], low[1]), (high[0], high[1])


def random_walk(generator: random.Random) -> Vertices:
    """A closed axis-parallel path on a small lattice: often crossing, sometimes valid."""
    size, turns = generator.choice([3, 4, 6, 9]), generator.choice([4, 6, 8, 10])
    xs = [generator.randrange(size) for _ in range(turns // 2)]
    ys = [generator.randrange(size) for _ in range(turns // 2)]
    path = []
    for i in range(turns // 2):
        path += [(xs[i], ys[i]), (xs[(i + 1) % len(xs)], ys[i])]
    for _ in range(generator.choice([0, 0, 1, 2])):  # vertices on edges, also where they may not be
        i = generator.randrange(len(path))
        (x1, y1), (x2, y2) = path[i], path[(i + 1) % len(path)]
        path.insert(
            i + 1, (generator.randint(*sorted((x1, x2))), generator.randint(*sorted((y1, y2))))
        )
    return path if generator.random() < 0.5 else path[::-1]


def is_valid(vertices: Vertices) -> bool:
    try:
        Polygon(np.array(vertices))
    except WrongAnswer:
        return False
    return 4 <= len(vertices) <= 1000


def test_against_a_plain_checker() -> None:
    generator = random.Random(39)
    counts = {True: 0, False: 0}
    for _ in range(4000):
        vertices = random_walk(generator)
        expected = is_valid_plainly(vertices)
        assert is_valid(vertices) == expected, vertices
        counts[expected] += 1
        if expected:
            points = np.array([(x, y) for x in range(-1, 11) for y in range(-1, 11)])
            found = Polygon(np.array(vertices)).encloses(points)
            wanted = [winding_contains(vertices, x, y) for x, y in points.tolist()]
            assert found.tolist() == wanted, vertices
    assert min(counts.values()) > 400


def comb(teeth: int) -> Vertices:
    """A comb with 4 * teeth vertices."""
    path = [(0, 0)]
    for tooth in range(teeth):
        x = 2 * tooth
        path += [(x, 10), (x + 1, 10), (x + 1, 5), (x + 2, 5)]
    return [*path[:-2], (path[-3][0], 0)]


def test_most_vertices(fishing: PurseSeineFishing) -> None:
    text = "\n".join(f"{x} {y}" for x, y in comb(250))
    assert len(comb(250)) == 1000
    (case,) = fishing.case_scores(Artifact([{"seed": 0, "stdout": f"1000\n{text}\n"}]))
    assert case.score == 1
    assert is_valid_plainly(comb(50))


@pytest.mark.parametrize(
    ("text", "vertices"),
    [
        ("", None),
        (" \n\u3000\u2029\t", None),
        ("4 0 0 1 0 1 1 0 1", [(0, 0), (1, 0), (1, 1), (0, 1)]),
        ("4\u00a00 0\u20031 0 1 1\x0b0\x851", [(0, 0), (1, 0), (1, 1), (0, 1)]),
        ("4 0 0 +1 00 01 1 -0 " + 5000 * "0" + "1", [(0, 0), (1, 0), (1, 1), (0, 1)]),
        ("4 9 9 9 9 9 9 9 9 4 0 0 1 0 1 1 0 1", [(0, 0), (1, 0), (1, 1), (0, 1)]),
    ],
)
def test_reading(text: str, vertices: Vertices | None) -> None:
    found = last_polygon(text)
    assert (None if found is None else [tuple(row) for row in found.tolist()]) == vertices


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("4\x1c0 0 1 0 1 1 0 1", "no whole number"),  # a space to Python alone
        ("4 0 0 1 0 1 1 0 ١", "no whole number"),
        ("4 0 0 1 0 1 1 0 1_0", "no whole number"),
        ("4 0 0 1 0 1 1 0 --1", "no whole number"),
        ("4 0 0 1 0 1 1 0 +", "no whole number"),
        ("4 0 0 1 0 1 1 0 " + "9" * 5000, "no whole number"),
        ("4 0 0 1 0 1 1 0 100001", "is not in 0 to 100000"),
        ("4 0 0 1 0 1 1 0 -1", "coordinate -1 is not in"),
        ("0", "number of vertices 0"),
        ("4 0 0 1 0 1 1 0 1 4", "ends within"),
        ("4 0 0 1 0 1 1", "ends within"),
        ("1000000000", "number of vertices"),
    ],
)
def test_unreadable(text: str, reason: str) -> None:
    with pytest.raises(WrongAnswer, match=reason):
        last_polygon(text)


@pytest.mark.parametrize(
    ("vertices", "reason"),
    [
        ([(0, 0), (5, 0), (5, 5), (1, 4)], r"edge 2 from \(5, 5\) is parallel to no axis"),
        ([(0, 0), (5, 0), (5, 5), (0, 5), (0, 0)], r"vertex \(0, 0\) appears twice"),
        ([(0, 0), (9, 0), (9, 9), (4, 9), (4, 0), (2, 0), (2, 9), (0, 9)], "overlap"),
        ([(0, 4), (9, 4), (9, 9), (5, 9), (5, 0), (0, 0)], r"edges meet at \(5, 4\)"),
        ([(0, 0), (100000, 0), (100000, 100000), (50, 100000), (50, 99999), (49, 99999),
          (49, 100000), (0, 100000)], "400002 long, allowed is 400000"),
    ],
)  # fmt: skip
def test_reasons(vertices: Vertices, reason: str) -> None:
    with pytest.raises(WrongAnswer, match=reason):
        Polygon(np.array(vertices))


def test_empty_output_is_flagged(fishing: PurseSeineFishing) -> None:
    outputs: Any = [{"seed": 0, "stdout": ""}, {"seed": 1, "stdout": "4 0 0 1 0 1 1 0 1"}]
    score = fishing.score(Artifact(outputs), "search")
    assert score.objective == 2.0
    assert score.metrics["empty_output"] == 1.0
    assert "1 empty output" in score.feedback
    plain = fishing.score(Artifact(outputs[1:]), "search")
    assert "empty_output" not in plain.metrics


def test_picture(fishing: PurseSeineFishing) -> None:
    outputs: Any = [
        {"seed": 0, "stdout": "nonsense"},
        {"seed": 1, "stdout": "4 20000 20000 70000 20000 70000 70000 20000 70000"},
    ]
    figure = Figure()
    fishing.draw(Artifact(outputs), figure)
    title = figure.get_suptitle()
    assert title == "input 1: score 669, 4 vertices, length 200000"
    with pytest.raises(Unavailable, match="no case is valid"):
        fishing.draw(Artifact(outputs[:1]), Figure())
    fishing.draw(Artifact([{"seed": 0, "stdout": ""}]), Figure())


def test_picture_file(tmp_path: Path, need_compiler: None) -> None:
    square = Artifact([{"seed": 1, "stdout": "4 20000 20000 70000 20000 70000 70000 20000 70000"}])
    save_picture(prepare("ahc039"), square, tmp_path / "catch.png")
    assert (tmp_path / "catch.png").stat().st_size > 10_000
