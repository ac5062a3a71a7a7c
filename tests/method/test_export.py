"""Checkpoints for OpenEvolve: the package itself must load them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_task import clients, config

from method.export import openevolve_checkpoint, write_checkpoint
from method.journal import JournalError
from method.runs import best_program, run
from method.trace import read_trace


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    run(config(iterations=15), folder, clients=clients())
    return folder


def test_the_package_loads_it(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("openevolve")
    from openevolve.config import DatabaseConfig
    from openevolve.database import ProgramDatabase

    out = tmp_path / "checkpoint_15"
    write_checkpoint(openevolve_checkpoint(folder), out)
    database = ProgramDatabase(DatabaseConfig())
    database.load(str(out))
    children = [record["child"] for record in read_trace(folder) if record["child"] is not None]
    assert len(database.programs) == 1 + len(children)
    assert [database.programs[c["id"]].metrics["combined_score"] for c in children] == [
        c["search_score"] for c in children
    ]
    code, summary = best_program(folder)
    best = database.get_best_program()
    assert (best.id, best.code) == (summary["best"]["id"], code)
    assert best.metrics["value"] == summary["best"]["search_score"]
    assert database.get_artifacts(best.id)["feedback"].startswith("the number is")
    assert database.last_iteration == max(p.iteration_found for p in database.programs.values())
    assert sum(len(island) for island in database.islands) == len(database.programs)
    assert len(database.islands) == 5
    parent, inspirations = database.sample_from_island(0, 3)  # it can go on from here
    assert parent.id in database.programs
    assert all(program.id in database.programs for program in inspirations)
    roots = [program for program in database.programs.values() if program.parent_id is None]
    assert any(program.iteration_found == 0 for program in roots)
    for program in database.programs.values():
        if program.parent_id is not None:
            assert program.generation == database.programs[program.parent_id].generation + 1
        elif program.iteration_found:
            assert program.metadata["copied_parent"] not in database.programs


def test_the_folder_is_a_whole_checkpoint(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "there"
    out.mkdir()
    write_checkpoint(openevolve_checkpoint(folder), out)
    code, summary = best_program(folder)
    assert (out / "best_program.py").read_text() == code
    info = json.loads((out / "best_program_info.json").read_text())
    assert info["metrics"]["combined_score"] == summary["best"]["search_score"]
    assert not list(tmp_path.glob(".*"))
    with pytest.raises(FileExistsError, match="is not empty"):
        write_checkpoint(openevolve_checkpoint(folder), out)


def test_held_out_scores_are_not_exported(tmp_path: Path) -> None:
    from fake_task import LocalEvaluator

    given = config(iterations=3)
    run(given, tmp_path / "run", clients=clients(LocalEvaluator(held_out=True)))
    checkpoint = openevolve_checkpoint(tmp_path / "run")
    assert "1234.5" not in json.dumps([dict(program) for program in checkpoint.programs])


def test_a_run_without_programs_is_refused(tmp_path: Path) -> None:
    from method.journal import Blobs, Journal

    with Journal(tmp_path) as journal:
        x0 = Blobs(tmp_path).put("x")
        journal.append("run_started", {"config": {"task": "cp26"}, "x0": x0})
    with pytest.raises(JournalError, match="initial program has no score yet"):
        openevolve_checkpoint(tmp_path)
