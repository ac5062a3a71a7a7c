"""The scaffold that the paper calls OpenEvolve, step by step (methods.md 4.7)."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_data import parity_files, read_case

from method.protocols import Program
from method.scaffolds.native_population import Population, program_id


def drive(case: dict[str, Any]) -> tuple[Population, list[list[str]], dict[str, str]]:
    seed = case["seed"]
    names = {
        program_id(seed, t, slot, kind): f"{t}:{slot}:{kind}"
        for t in range(len(case["children"]) + 1)
        for slot in range(20)
        for kind in ("child", "seed", "migrant")
    }
    population = Population(seed)
    x0 = case["x0"]
    population.start(Program(program_id(seed, 0, 0, "child"), x0["code"], "python", x0["score"]))
    selections = []
    for t, child in enumerate(case["children"], start=1):
        parent, context = population.select(t)
        selections.append([names[parent.id], *(names[program.id] for program in context)])
        if child is not None:
            name = program_id(seed, t, 0, "child")
            program = Program(
                name, child["code"], "python", child["score"], parent_id=parent.id, iteration=t
            )
            population.insert(t, program)
    return population, selections, names


@pytest.mark.parametrize("path", parity_files("methods/official", "openevolve_native.json"))
def test_vectors(path: Path) -> None:
    for case in read_case(path):
        population, selections, names = drive(case["input"])
        expected = case["expected"]
        for t, (ours, theirs) in enumerate(zip(selections, expected["selections"], strict=True), 1):
            assert ours == theirs, f"{case['case']}, iteration {t}"
        assert program_id(case["input"]["seed"], 0, 0, "child") == expected["x0_id"]
        assert [names[name] for name in population.programs] == expected["programs"]
        islands = [[names[name] for name in island] for island in population.islands]
        assert islands == expected["islands"]
        bests = [None if name is None else names[name] for name in population.island_best]
        assert bests == expected["island_best"]
        assert names[population.best or ""] == expected["best"]
        assert population.generations == expected["generations"]
        assert population.migrations == expected["migrations"]
        assert len(population.archive) == expected["archive_size"]
        assert [len(cells) for cells in population.cells] == expected["cells"]
        for name, (low, high) in expected["feature_range"].items():
            ours_range = getattr(population, name)
            assert ours_range.low == pytest.approx(low, rel=1e-12)
            assert ours_range.high == pytest.approx(high, rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 2**32))
def test_invariants(seed: int, script: int) -> None:
    draw = random.Random(script)
    population = Population(seed)
    population.start(Program(program_id(seed, 0, 0, "child"), "x = 0\n", "python", 0.0))
    best = 0.0
    for t in range(1, 70):
        parent, context = population.select(t)
        assert parent.id in population.programs
        assert len(context) <= 4
        assert len({parent.id, *(program.id for program in context)}) == len(context) + 1
        if draw.random() < 0.2:
            continue
        score = draw.choice([draw.uniform(-1, 1), 0.5])
        code = "".join(draw.choice("abc(\n") for _ in range(draw.randint(1, 60)))
        name = program_id(seed, t, 0, "child")
        migrated, best_before = population.last_migration, population.best
        evicted = population.insert(
            t, Program(name, code, "python", score, parent_id=parent.id, iteration=t)
        )
        best = max(best, score)
        assert not set(evicted) & set(population.programs)
        assert best_before not in evicted
        check(population, best)
        newest = max(population.generations)
        due = newest - migrated >= 10
        assert (population.migrations[-1:] == [t]) == due
        assert population.last_migration == (newest if due else migrated)


def check(population: Population, best: float) -> None:
    assert len(population.programs) <= 40
    assert population.programs[population.best or ""].score == best
    assert set(population.archive) <= set(population.programs)
    for island, members in enumerate(population.islands):
        assert all(population.programs[name].island == island for name in members)
        assert all(
            population.programs[name].island == island for name in population.cells[island].values()
        )


def test_the_same_under_every_hash_seed() -> None:
    code = (
        "import random; from method.scaffolds.native_population import *; "
        "from method.protocols import Program; p = Population(7); d = random.Random(1); "
        "p.start(Program('x', 'x', 'python', 0.0)); out = []\n"
        "for t in range(1, 101):\n"
        "    parent, context = p.select(t); out.append([parent.id, *[c.id for c in context]])\n"
        "    source = ''.join(d.choice('abcdefg') for _ in range(d.randint(1, 30)))\n"
        "    p.insert(t, Program(program_id(7, t, 0, 'child'), source, 'python', d.random(), "
        "parent_id=parent.id, iteration=t))\n"
        "print(hashlib.sha256(repr(out).encode()).hexdigest())"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "1", "2")
    }
    assert len(answers) == 1
