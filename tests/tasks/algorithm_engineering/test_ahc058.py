"""Apple production: the contest tester's verdicts, and our simulation beside a plain one."""

from __future__ import annotations

import random
from decimal import ROUND_HALF_UP, Decimal, getcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from shared_data import parity_files, read_case

from benchmark.artifact import Artifact
from benchmark.evaluator import Invalid
from tasks.algorithm_engineering.ahc058 import plan
from tasks.algorithm_engineering.ahc058.evaluator import AppleProduction
from tasks.algorithm_engineering.ahc058.generator import generate
from tasks.algorithm_engineering.cases import WrongAnswer

Step = tuple[int, int] | None


@pytest.mark.parametrize("path", parity_files("ahc", "ahc058_outputs.json"))
def test_parity(path: Path, apples: AppleProduction) -> None:
    """Verdict and score of the contest's own tester, alone and among other cases."""
    cases = read_case(path, numbers=False)
    assert len(cases) >= 36
    for case in cases:
        entry = {"seed": case["seed"], "stdout": case["input"]["stdout"]}
        expected = case["expected"]
        if expected["valid"]:
            score = apples.score(Artifact([entry]), "search")
            assert score.objective == score.search == expected["score"], case["case"]
        else:
            with pytest.raises(Invalid, match=r"^WA: "):
                apples.score(Artifact([entry]), "search")
    entries: Any = [{"seed": c["seed"], "stdout": c["input"]["stdout"]} for c in cases]
    together = apples.case_scores(Artifact(entries))
    wanted = [c["expected"]["score"] if c["expected"]["valid"] else None for c in cases]
    assert [case.score for case in together] == wanted


class PlainEconomy:
    """One case in Python integers, as the statement tells it."""

    def __init__(self, seed: int) -> None:
        lines = [list(map(int, line.split())) for line in generate(seed).decode().splitlines()]
        self.capacity, self.cost = lines[1], lines[2:]
        self.count = [[1] * 10 for _ in range(4)]
        self.power = [[0] * 10 for _ in range(4)]
        self.apples = 1

    def price(self, level: int, number: int) -> int:
        return self.cost[level][number] * (self.power[level][number] + 1)

    def turn(self, step: Step) -> bool:
        """False when the payment is not affordable."""
        if step is not None:
            self.apples -= self.price(*step)
            self.power[step[0]][step[1]] += 1
            if self.apples < 0:
                return False
        for level in range(4):
            for number in range(10):
                made = self.count[level][number] * self.power[level][number]
                if level == 0:
                    self.apples += self.capacity[number] * made
                else:
                    self.count[level - 1][number] += made
        return True


def thrifty_plan(seed: int, generator: random.Random) -> tuple[list[Step], int]:
    """A random affordable plan that reaches all levels, and the apples it ends with."""
    economy, steps = PlainEconomy(seed), []
    for _ in range(500):
        choices = [
            (level, number)
            for level in range(4)
            for number in range(10)
            if economy.price(level, number) <= economy.apples
        ]
        step = generator.choice(choices[-8:]) if choices and generator.random() < 0.6 else None
        steps.append(step)
        assert economy.turn(step)
    return steps, economy.apples


def as_text(steps: list[Step]) -> str:
    return "".join("-1\n" if step is None else f"{step[0]} {step[1]}\n" for step in steps)


def test_against_a_plain_simulation(apples: AppleProduction) -> None:
    generator = random.Random(58)
    plans = [(seed, *thrifty_plan(seed, generator)) for seed in range(12)]
    actions = np.array([plan.read_plan(as_text(steps)) for _, steps, _ in plans])
    assert {int(action) // 10 for action in actions.ravel()} == {0, 1, 2, 3, 4}
    outcome = plan.simulate(plan.read_economy([generate(seed) for seed, *_ in plans]), actions)
    assert outcome.apples[:, -1].tolist() == [end for *_, end in plans]
    assert (outcome.broken == -1).all()
    entries: Any = [{"seed": seed, "stdout": as_text(steps)} for seed, steps, _ in plans]
    scores = [case.score for case in apples.case_scores(Artifact(entries))]
    assert scores == [plan.case_score(end) for *_, end in plans]


def test_first_unaffordable_turn_is_named(apples: AppleProduction) -> None:
    generator = random.Random(1)
    steps, _ = thrifty_plan(3, generator)
    economy = PlainEconomy(3)
    for step in steps[:200]:
        economy.turn(step)
    dear = max(((i, j) for i in range(4) for j in range(10)), key=lambda m: economy.price(*m))
    assert economy.price(*dear) > economy.apples
    spoilt = [*steps[:200], dear, *steps[201:]]
    entries: Any = [{"seed": 3, "stdout": as_text(spoilt)}, {"seed": 3, "stdout": as_text(steps)}]
    broken, sound = apples.case_scores(Artifact(entries))
    assert broken.score is None
    assert broken.reason.startswith("WA: turn 200: too few apples")
    assert sound.score is not None


def test_numbers_beyond_62_bits_are_noticed() -> None:
    """No affordable plan gets there; free machines do."""
    economy = plan.Economy(np.full((2, 10), 100), np.zeros((2, 40), dtype=np.int64))
    wild = np.tile(np.arange(39, 29, -1), 50)
    modest = np.full(500, plan.REST)
    modest[0] = 0
    late = np.concatenate([np.tile([39, 29, 19, 9], 125)])
    for actions in (wild, late):
        outcome = plan.simulate(economy, np.array([actions, modest]))
        exact = exact_overflow(actions.tolist())
        assert outcome.broken.tolist() == [exact, -1]
        assert outcome.apples[1, -1] == 1 + 500 * 100


def exact_overflow(actions: list[int]) -> int:
    """First turn after whose production a number exceeds 2^62, in Python integers; -1: none."""
    count, power, apples = [[1] * 10 for _ in range(4)], [[0] * 10 for _ in range(4)], 1
    for turn, action in enumerate(actions):
        power[action // 10][action % 10] += 1
        for level in range(4):
            for number in range(10):
                made = count[level][number] * power[level][number]
                if level == 0:
                    apples += 100 * made
                else:
                    count[level - 1][number] += made
        if max(apples, *(max(row) for row in count)) > 2**62:
            return turn
    return -1


@pytest.mark.parametrize("apples_left", [1, 2, 3, 500, 10**6 + 1, 2**40, 2**57 - 1, 3**35])
def test_case_score_is_rounded_as_the_contest_does(apples_left: int) -> None:
    getcontext().prec = 40
    exact = 100_000 * Decimal(float(apples_left)).ln() / Decimal(2).ln()
    assert plan.case_score(apples_left) == int(exact.to_integral_value(ROUND_HALF_UP))


@pytest.mark.parametrize("apples_left", [0, -1])
def test_nothing_left(apples_left: int) -> None:
    with pytest.raises(WrongAnswer, match="at least 1 is needed"):
        plan.case_score(apples_left)


REST_499 = "-1\n" * 499


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("-1\n" + REST_499, plan.REST),
        ("3 9\n" + REST_499, 39),
        ("\u3000+2\u00a0007 \r\n" + REST_499, 27),
        ("# 0 0\n\n  #x\n-0 0\n" + REST_499 + "whatever \x00 1 2 3", 0),
        ("-01\n" + REST_499.rstrip(), plan.REST),
    ],
)
def test_reading(text: str, first: int) -> None:
    actions = plan.read_plan(text)
    assert len(actions) == 500
    assert actions[0] == first


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("-1 #", "2 words; -1 stands alone"),
        ("1", "1 words; a level is followed by one id"),
        ("1 2 3", "3 words"),
        ("-2", "'-2' is no level"),
        ("4 0", "'4' is no level"),
        ("0 -0", "'-0' is no id"),
        ("0 10", "'10' is no id"),
        ("0 1.0", "'1.0' is no id"),
        ("\x1c-1", "is no level"),  # a space to Python alone
        ("0\x0b0\x1e", "is no id"),
        ("\u0661 0", "is no level"),
        ("0 18446744073709551616", "is no id"),
    ],
)
def test_unreadable(line: str, reason: str) -> None:
    with pytest.raises(WrongAnswer, match=f"turn 2: .*{reason}"):
        plan.read_plan(f"-1\n0 0\n{line}\n" + REST_499)


def test_too_few_actions() -> None:
    with pytest.raises(WrongAnswer, match="499 actions; there are 500 turns"):
        plan.read_plan(REST_499)


def test_picture(apples: AppleProduction) -> None:
    steps, end = thrifty_plan(0, random.Random(0))
    figure = Figure()
    apples.draw(Artifact([{"seed": 0, "stdout": as_text(steps)}]), figure)
    assert f"{end} apples after 500 turns" in figure.get_suptitle()
    left, right = figure.axes
    assert left.lines[0].get_ydata()[-1] == end
    assert [line.get_ydata()[-1] for line in right.lines] == [
        sum(step is not None and step[0] == level for step in steps) for level in range(4)
    ]
