"""ShinkaEvolve 0.0.7: a script that writes its verdict into a results folder.

The script is called with ``--program_path`` and ``--results_dir`` and leaves two files there:
``metrics.json`` (``combined_score``, the objects ``public`` and ``private``, ``text_feedback``)
and ``correct.json`` (``correct``, ``error``). A program that is not correct is never best.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmark.catalogue import UnknownTask
from benchmark.evaluator import Unavailable
from benchmark.peers.system import System, patience_s, reference
from benchmark.peers.verdict import peer_evaluate, require
from benchmark.peers.yaml_text import Value, to_yaml
from benchmark.sandbox.jail import SandboxBroken
from benchmark.task import Task, TaskError

TITLE = "ShinkaEvolve"
GENERATIONS = 50
USAGE, MISSING = 2, 3


def main(task_id: str, arguments: Sequence[str] | None = None, **settings: Any) -> int:
    """Evaluate one program as ShinkaEvolve asks for it; the exit code.

    ``settings`` are those of :func:`~benchmark.peers.verdict.peer_evaluate`. 0: the verdict is
    written, good or bad. 2: the program or the results folder cannot be used. 3: this machine
    cannot evaluate the task; ``correct.json`` then says why, so that no program is scored for it.
    """
    parser = argparse.ArgumentParser(description=f"Score a program on {task_id}.")
    parser.add_argument("--program_path", type=Path, required=True)
    parser.add_argument("--results_dir", type=Path, required=True)
    given = parser.parse_args(arguments)
    results: Path = given.results_dir
    try:
        results.mkdir(parents=True, exist_ok=True)
        for name in ("metrics.json", "correct.json"):
            (results / name).unlink(missing_ok=True)
        require(task_id)
        verdict = peer_evaluate(task_id, given.program_path, **settings)
        error = verdict.get("error")
        _write(results / "metrics.json", _metrics(verdict))
        _write(results / "correct.json", {"correct": error is None, "error": error})
    except OSError as problem:
        print(f"{problem.filename or results}: {problem.strerror or problem}", file=sys.stderr)
        return USAGE
    except (Unavailable, UnknownTask, TaskError, SandboxBroken) as problem:
        print(problem, file=sys.stderr)
        _write(results / "correct.json", {"correct": False, "error": str(problem)})
        return MISSING
    print(f"{task_id}: combined_score {verdict['combined_score']!r}", error or "")
    return 0


def _metrics(verdict: Mapping[str, float | str]) -> dict[str, Any]:
    texts = ("error", "feedback")
    return {
        "combined_score": verdict["combined_score"],
        "public": {
            name: value for name, value in verdict.items() if name not in ("combined_score", *texts)
        },
        "private": {},
        "text_feedback": "\n".join(str(verdict[name]) for name in texts if name in verdict),
    }


def _write(path: Path, content: Mapping[str, Any]) -> None:
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _script(task: Task) -> str:
    return f'''"""Scores one program on {task.id} for {TITLE}. Written by `evoduet adapt`."""

import sys

try:
    from benchmark.peers.shinka import main
except ImportError as error:
    message = "install evoduet into the environment that runs {TITLE}: pip install evoduet"
    raise ImportError(message) from error

if __name__ == "__main__":
    sys.exit(main({json.dumps(reference(task))}))
'''


def _files(task: Task) -> dict[str, str]:
    return {"evaluate.py": _script(task), "config.yaml": to_yaml(_config(task))}


def _config(task: Task) -> dict[str, Value]:
    minutes, seconds = divmod(patience_s(task), 60)
    return {
        "max_evaluation_jobs": 1,
        "evo": {
            "language": task.declared.language,
            "use_text_feedback": True,
            "patch_types": ["diff", "full", "cross"],
            "patch_type_probs": [0.6, 0.3, 0.1],
            "task_sys_msg": task.instructions,
        },
        "job": {"time": f"{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}"},
    }


def _command(task: Task) -> str:
    return (
        f"shinka_run --task-dir . --results_dir results --num_generations {GENERATIONS}"
        """ --config-fname config.yaml --set 'evo.llm_models=["MODEL"]'"""
    )


def _notes(task: Task) -> list[str]:
    return [
        "ShinkaEvolve pins versions that other systems do not get on with, so give it an"
        " environment of its own, with evoduet in it: `pip install evoduet shinka-evolve==0.0.7`.",
        "It embeds programs with an OpenAI model unless told otherwise:"
        " `--set evo.embedding_model=none` switches that off. It requires the markers"
        " `EVOLVE-BLOCK-START` and `EVOLVE-BLOCK-END` in every program. `patch_types` in"
        " `config.yaml` mixes edits (`diff`), whole programs (`full`) and recombination.",
        "For N evaluations at once set `max_evaluation_jobs: N` and write"
        f" `main({json.dumps(reference(task))}, workers=N)` in `evaluate.py`, so that they share"
        " the cores.",
    ]


SYSTEM = System("shinka", TITLE, "initial", _files, _command, _notes)
