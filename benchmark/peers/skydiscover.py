"""SkyDiscover 0.1.0: evaluator loaded by path, YAML configuration, console script."""

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

TITLE = "SkyDiscover"


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
        "diff_based_generation": True,
        "max_solution_length": longest_program(task),
        "llm": {**MODEL, "top_p": 0.95},
        "prompt": {"system_message": f"{task.instructions.rstrip()}\n\n{_time_limit(task)}\n"},
        "search": {"type": "topk", "num_inspirations": 4},
        "evaluator": {
            "timeout": patience_s(task),
            "max_retries": 0,
            "cascade_evaluation": False,
            "parallel_evaluations": 1,
        },
    }


def _time_limit(task: Task) -> str:
    # SkyDiscover's prompt quotes its own limit, which has to be longer than the program's.
    return (
        f"The evaluator ends a program after {task.declared.limits.wall_s:g} seconds of wall time."
        " A longer limit named elsewhere includes the evaluator's own work."
    )


def _command(task: Task) -> str:
    return (
        f"skydiscover-run initial_program{SUFFIXES[task.declared.language]} evaluator.py"
        f" --config config.yaml --iterations {ITERATIONS} --model MODEL --search topk"
    )


def _notes(task: Task) -> list[str]:
    return [
        "Install both into one environment: `pip install evoduet 'skydiscover==0.1.0'`. `MODEL`"
        " may carry a provider (`gemini/...`); keys come from the provider's usual environment"
        " variable, another endpoint from `--api-base URL`.",
        "`--search` takes the other algorithms of SkyDiscover as well (`adaevolve`,"
        " `best_of_n`, `beam_search`); the wheel 0.1.0 lacks files that `evox` needs."
        " `diff_based_generation: false` in `config.yaml` asks for whole programs.",
    ]


SYSTEM = System("skydiscover", TITLE, "initial_program", _files, _command, _notes)
