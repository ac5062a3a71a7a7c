"""OpenEvolve 0.4: evaluator loaded by path, YAML configuration, console script."""

from __future__ import annotations

from benchmark.peers.system import (
    ITERATIONS,
    MODEL,
    SEED,
    System,
    evaluator_stub,
    longest_program,
    patience_s,
)
from benchmark.peers.yaml_text import Value, to_yaml
from benchmark.task import SUFFIXES, Task

TITLE = "OpenEvolve"


def _files(task: Task) -> dict[str, str]:
    return {"evaluator.py": evaluator_stub(task, TITLE), "config.yaml": to_yaml(_config(task))}


def _config(task: Task) -> dict[str, Value]:
    language = task.declared.language
    return {
        "max_iterations": ITERATIONS,
        "checkpoint_interval": 10,
        "random_seed": SEED,
        "language": language,
        "file_suffix": SUFFIXES[language],
        "diff_based_evolution": True,
        "max_code_length": longest_program(task),
        "llm": MODEL,
        "prompt": {"system_message": task.instructions},
        "evaluator": {
            "timeout": patience_s(task),
            "max_retries": 0,
            "cascade_evaluation": False,
            "parallel_evaluations": 1,
        },
    }


def _command(task: Task) -> str:
    return (
        f"openevolve-run initial_program{SUFFIXES[task.declared.language]} evaluator.py"
        f" --config config.yaml --iterations {ITERATIONS} --primary-model MODEL"
    )


def _notes(task: Task) -> list[str]:
    return [
        "Install both into one environment: `pip install evoduet 'openevolve==0.4.*'`. The key"
        " is read from `OPENAI_API_KEY`; another endpoint is named with `--api-base URL`.",
        "`diff_based_evolution: false` in `config.yaml` asks the model for whole programs instead"
        " of edits. With `parallel_evaluations: N`, write"
        " `peer_evaluate(TASK, program_path, workers=N)` in `evaluator.py`, so that the"
        " evaluations share the cores instead of fighting for them.",
    ]


SYSTEM = System("openevolve", TITLE, "initial_program", _files, _command, _notes)
