"""Our Top-K against the one of skydiscover."""

from __future__ import annotations

import random

from scaffolds.scaffold_cases import TASK, ScriptedStrategist, child_of, needs, wait_for, x0

from method.scaffolds.packages import Stream
from method.scaffolds.topk import CONTEXT, TopK

pytestmark = needs("skydiscover", "0.1.0")


def test_the_same_choices_as_the_package_ties_included() -> None:
    from skydiscover.config import DatabaseConfig
    from skydiscover.search.base_database import Program
    from skydiscover.search.topk.database import TopKDatabase

    draw, scaffold = random.Random(4), TopK(TASK)
    with Stream("package").as_global():
        database = TopKDatabase("topk", DatabaseConfig())
    wait_for(scaffold.start(x0(score=0.3), 1, ScriptedStrategist()))
    database.add(Program(x0().id, "", metrics={"combined_score": 0.3}), iteration=0)
    for t in range(1, 101):
        selection = wait_for(scaffold.select(t))
        parents, context = database.sample(num_inspirations=CONTEXT)
        assert selection.parent.id == parents[""].id
        assert list(selection.context_ids) == [program.id for program in context[""]]
        if t % 9 == 0:
            continue  # an iteration without a child
        score = draw.randint(0, 6) / 10  # many ties
        child = child_of(selection, 1, t, score)
        wait_for(scaffold.insert(t, child, selection))
        entry = Program(child.id, child.code, metrics={"combined_score": score}, iteration_found=t)
        database.add(entry, iteration=t)
    assert len(wait_for(scaffold.retained())) == len(database.programs) == 90
