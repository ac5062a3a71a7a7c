"""The adapter to the PyPI package openevolve: repeatable, nothing dropped, prompt word for word."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from scaffolds.scaffold_cases import (
    TASK,
    ScriptedStrategist,
    child_of,
    drive,
    needs,
    uneven,
    wait_for,
    x0,
)

from method.config import ConfigProblem, make_config
from method.protocols import FailedAttempt, Selection
from method.registry import make_scaffold
from method.scaffolds.native_population import program_id
from method.scaffolds.openevolve_package import OpenEvolvePackage
from method.scaffolds.openevolve_parts import (
    Database,
    OrderedSet,
    Sampler,
    split_options,
    with_marks,
)
from method.scaffolds.options import OpenEvolveOptions
from method.scaffolds.packages import PackageProblem, Stream

pytestmark = needs("openevolve", "0.4.")

NOBODY = ScriptedStrategist()
HELP = "# Helpful Knowledge\n\n## Web Document 1\nTitle: a\nURL: b\nContent: c"


def scaffold(**options: Any) -> OpenEvolvePackage:
    return OpenEvolvePackage(TASK, OpenEvolveOptions(**options))


def test_the_same_under_three_hash_seeds_and_other_users_of_random() -> None:
    code = (
        "import random, sys; sys.path[:0] = sys.argv[2:]; random.seed(sys.argv[1])\n"
        "from scaffolds.scaffold_cases import *\n"
        "from method.scaffolds.openevolve_package import OpenEvolvePackage\n"
        "from method.scaffolds.options import OpenEvolveOptions\n"
        "def disturb(t, selection, events): random.random()\n"
        "made = OpenEvolvePackage(TASK, OpenEvolveOptions(native_params=True))\n"
        "print(fingerprint_of(wait_for(drive(made, 100, ScriptedStrategist(), after=disturb))))\n"
    )
    here = Path(__file__).parents[1]
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", code, seed, str(here), str(here.parents[1])],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("0", "1", "77")
    ]
    printed = [run.communicate()[0] for run in runs]
    assert all(run.returncode == 0 for run in runs)
    assert len(set(printed)) == 1
    assert len(printed[0].strip()) == 64


def test_another_seed_is_another_run() -> None:
    runs = [wait_for(drive(scaffold(), 20, NOBODY, seed=1)) for _ in range(2)]
    assert runs[0] == runs[1]
    assert parents_of(seed=1) != parents_of(seed=2)


def parents_of(seed: int) -> list[int]:
    chosen: list[int] = []

    def note(t: int, selection: Selection, events: list[Any]) -> None:
        chosen.append(selection.parent.iteration)

    wait_for(drive(scaffold(), 20, NOBODY, seed=seed, after=note))
    return chosen


def test_the_package_leaves_no_trace_in_this_process() -> None:
    import time
    import uuid

    import openevolve.database as module

    random.seed(3)
    before = random.getstate()
    wait_for(drive(scaffold(native_params=True), 30, NOBODY))
    assert random.getstate() == before
    assert module.uuid is uuid
    assert module.time is time


def test_islands_receive_programs_and_programs_migrate() -> None:
    made = scaffold(native_params=True)
    turns: dict[str, int] = {}
    migrations: list[int] = []

    def note(t: int, selection: Selection, events: list[Any]) -> None:
        turns[program_id(1, t, 0, "child")] = (t - 1) % 5
        migrations.extend(t for event in events if event["kind"] == "migration")

    wait_for(drive(made, 100, NOBODY, after=note))
    inner = made._database.inner
    assert all(len(island) > 0 for island in inner.islands)
    for island, members in enumerate(inner.islands):
        children = [name for name in members if name in turns]
        assert all(turns[name] == island for name in children)
    assert migrations == sorted(set(migrations))
    assert migrations[0] >= 46  # ten generations of one island, one in five iterations
    retained = wait_for(made.retained())
    assert [program.id for program in retained] == list(inner.programs)
    assert len(retained) <= 41
    copies = [program for program in retained if program.copy_of is not None]
    assert copies
    known = {program_id(1, t, n, "migrant") for t in migrations for n in range(60)}
    assert {copy.id for copy in copies} <= known
    assert all(copy.iteration == 0 and copy.copy_of == copy.parent_id for copy in copies)
    best = max(retained, key=lambda program: program.search_score)
    assert inner.programs[inner.best_program_id].metrics["combined_score"] == best.search_score
    assert set(inner.archive) <= set(inner.programs)


def test_evicted_programs_are_reported() -> None:
    made = scaffold(population_size=6)
    wait_for(made.start(x0(), 1, NOBODY))
    held = {x0().id}
    for t in range(1, 31):
        selection = wait_for(made.select(t))
        held |= {program.id for program in wait_for(made.retained())}
        child = child_of(selection, 1, t, uneven(random.Random(t), t))
        result = wait_for(made.insert(t, child, selection))
        assert result.admitted
        now = {program.id for program in wait_for(made.retained())}
        assert set(result.evicted) == held - now
        assert now - held <= {child.id} | {p.id for p in wait_for(made.retained()) if p.copy_of}
        held = now
    assert len(held) <= 7


def test_a_child_that_its_island_does_not_take_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    made = scaffold()
    wait_for(made.start(x0(), 1, NOBODY))
    selection = wait_for(made.select(1))
    monkeypatch.setattr(made._database.inner, "add", lambda *args, **kwargs: None)
    with pytest.raises(PackageProblem, match="did not put the child of iteration 1 into island 0"):
        wait_for(made.insert(1, child_of(selection, 1, 1, 0.5), selection))


@pytest.mark.parametrize("edit", ["diff", "full"])
def test_the_prompt_is_the_package_s_with_room_for_documents(edit: Any) -> None:
    from openevolve.config import PromptConfig
    from openevolve.prompt.sampler import PromptSampler

    task = replace(TASK, edit=edit)
    made = OpenEvolvePackage(task, OpenEvolveOptions())
    wait_for(drive(made, 30, NOBODY))
    database = made._database
    sampled = database.sample(31)
    ours, stream = Sampler(9, task, database.shown), Stream("9:prompt")
    plain = PromptSampler(PromptConfig(system_message=task.instructions))
    artifacts = database.artifacts(sampled.parent.id)
    system, parts = ours.build(31, sampled, artifacts, database.feature_dimensions)
    with stream.as_global():
        expected = plain.build_prompt(
            current_program=sampled.parent.code,
            parent_program=sampled.parent.code,
            program_metrics=sampled.parent.metrics,
            previous_programs=[entry.to_dict() for entry in sampled.previous],
            top_programs=[entry.to_dict() for entry in sampled.top],
            inspirations=[entry.to_dict() for entry in sampled.inspirations],
            language="python",
            evolution_round=31,
            diff_based_evolution=edit == "diff",
            program_artifacts=artifacts,
            feature_dimensions=["complexity", "diversity"],
        )
    assert len(sampled.top) == 5
    assert expected["user"] == parts.before + parts.history + parts.program + parts.task
    assert system == expected["system"] == task.instructions
    assert "## Diverse Programs" in parts.history
    assert "## Last Execution Output" in parts.before
    assert "seen in iteration" in parts.before


def test_documents_failures_and_history_stand_in_their_places() -> None:
    forged = "VALUE = 1\n# Task\n# Program Evolution History\n{evolution_history} {evoduet_mark}\n"
    made = scaffold()
    wait_for(made.start(replace(x0(score=0.12345678901), code=forged), 1, NOBODY))
    selection = wait_for(made.select(1))
    plain = selection.build_prompt("", [])
    assert "Helpful Knowledge" not in plain
    assert plain.count(forged) == 2  # as a top program and as itself
    prompt = selection.build_prompt(HELP, [])
    assert prompt.replace(f"{HELP}\n\n", "") == plain
    before, after = prompt.split(HELP)
    assert before.endswith(f"```python\n{forged}\n```\n\n")
    assert after.startswith("\n\n# Task\nSuggest improvements")
    failed = [FailedAttempt("it crashed", "x = 1 / 0"), FailedAttempt("no block", "sorry")]
    retry = selection.build_prompt(HELP, failed)
    history = retry.index(selection.history_text)
    first = retry.index("## Failed Attempt 1 of This Iteration\nError: it crashed\n```\nx = 1 / 0")
    second = retry.index("## Failed Attempt 2")
    assert history < first < second < retry.rindex("# Current Program\n") < retry.index(HELP)
    assert "0.12345678901" in selection.system_prompt
    assert "0.12345678901" not in prompt  # the package prints four decimals


def test_anchors_of_the_templates_must_be_unique() -> None:
    good = "a\n{evolution_history}\n\n# Task\nb"
    assert with_marks(good).count("{evoduet_mark}") == 3
    for bad in ("a\n# Task\n", good + "\n# Task\n", "{evolution_history}" + good):
        with pytest.raises(PackageProblem, match="the adapter needs it once"):
            with_marks(bad)


def test_every_option_reaches_the_package() -> None:
    from openevolve.config import DatabaseConfig, PromptConfig

    given: dict[str, Any] = {
        "population_size": 77, "archive_size": 33, "num_islands": 3, "migration_interval": 7,
        "migration_rate": 0.3, "elite_selection_ratio": 0.4, "exploration_ratio": 0.25,
        "exploitation_ratio": 0.5, "num_top_programs": 2, "num_diverse_programs": 1,
    }  # fmt: skip
    assert given.keys() | {"native_params"} == OpenEvolveOptions.model_fields.keys()
    database = Database(1, OpenEvolveOptions(**given))
    for key, value in given.items():
        owner = database.shown if key.startswith("num_") and "programs" in key else None
        assert getattr(owner or database.inner.config, key) == value
    assert (database.inner.migration_interval, len(database.inner.islands)) == (7, 3)
    default, native = Database(1, OpenEvolveOptions()), OpenEvolveOptions(native_params=True)
    for field in fields(DatabaseConfig):
        if field.name != "random_seed":
            value = getattr(default.inner.config, field.name)
            assert value == getattr(DatabaseConfig(), field.name)
    inner = Database(1, native).inner.config
    assert (inner.population_size, inner.migration_interval) == (40, 10)
    both = OpenEvolveOptions(native_params=True, population_size=50).given()
    assert both == {"population_size": 50, "migration_interval": 10}
    split = split_options({"renamed": 1, "num_islands": 2}, DatabaseConfig, PromptConfig)
    assert split == ({"num_islands": 2}, {}, ["renamed"])


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        (
            "openevolve-package+none",
            {"populaton_size": 3},
            "populaton_size: unknown option of open",
        ),
        ("openevolve-package+none", {"population_size": 0}, "population_size: Input should be"),
        (
            "openevolve-package+none",
            {"exploration_ratio": 0.6, "exploitation_ratio": 0.6},
            "add up",
        ),
        ("openevolve-native+none", {"population_size": 40}, "unknown option of openevolve-native"),
        ("topk+none", {"window": 2}, r"unknown option of topk \(known: none\)"),
        ("evox+none", {"windows": 2}, "unknown option of evox .*window, guides, count_attempts"),
        ("evox+none", {"window": 0}, "window: Input should be"),
    ],
)
def test_options_are_strict(method: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigProblem, match=message):
        make_config(None, task="cp26", model="m", method=method, scaffold_options=options)


@pytest.mark.parametrize("found", [None, "0.5.2"])
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, found: str | None) -> None:
    from importlib import metadata

    def version(name: str) -> str:
        if found is None:
            raise metadata.PackageNotFoundError(name)
        return found

    monkeypatch.setattr("method.scaffolds.packages.metadata.version", version)
    for method, extra in (("openevolve-package", "openevolve"), ("evox", "skydiscover")):
        config = make_config(None, task="cp26", model="m", method=f"{method}+none")
        with pytest.raises(ConfigProblem, match=rf"--method {method}\+none: .*evoduet\[{extra}\]"):
            make_scaffold(config, TASK)


def test_ordered_sets_are_sets_in_order() -> None:
    items = OrderedSet("cab")
    items.add("c")
    items.discard("a")
    items.add("a")
    assert list(items) == ["c", "b", "a"]
    copy = items.copy()
    copy.intersection_update({"a", "c"}, ["a", "c", "x"])
    assert list(copy) == ["c", "a"]
    assert list(items.union("xc", "y")) == ["c", "b", "a", "x", "y"]
    assert list(items.difference({"b"}, "c")) == ["a"]
    assert list(items - {"b"}) == ["c", "a"]
    assert set(items) == {"a", "b", "c"}
    assert len(items) == 3
