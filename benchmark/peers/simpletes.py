"""SimpleTES: an evaluator module with ``evaluate(program_path)``, a seed and an instruction.

SimpleTES is not on the package index and its licence (AGPL-3.0) keeps its files away from here,
so its own settings are left to the user; the README names what to check.
"""

from __future__ import annotations

from benchmark.peers.system import ITERATIONS, System, evaluator_stub, patience_s
from benchmark.task import Task

TITLE = "SimpleTES"


def _files(task: Task) -> dict[str, str]:
    return {"evaluator.py": evaluator_stub(task, TITLE)}


def _notes(task: Task) -> list[str]:
    checks = [
        "Run SimpleTES's launcher with the three paths: the initial program, `evaluator.py`"
        " and `instruction.md`. Their options differ between its versions; see its help.",
        f"Give its evaluation a time limit of at least {patience_s(task)} s.",
        "The score is read from the key `combined_score` of what `evaluate` returns.",
        f"The paper's runs have {ITERATIONS} iterations; there is no configuration file here.",
        "SimpleTES can hand the best construction so far to programs as the builtin"
        " `GLOBAL_BEST_CONSTRUCTION`. Here it is `None` unless you name an artifact:"
        " `peer_evaluate(TASK, program_path, options={'warm_start': 'best.json'})`, in the tasks"
        " that have the setting (`evoduet show TASK`).",
    ]
    return [
        "Install evoduet into the environment that runs SimpleTES: `pip install evoduet`.",
        "SimpleTES was not at hand when this was written. Check before the first run:\n\n"
        + "\n".join(f"* {check}" for check in checks),
    ]


SYSTEM = System("simpletes", TITLE, "initial_program", _files, None, _notes)
