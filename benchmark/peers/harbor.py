"""Harbor (the format of Terminal-Bench 2): a task folder that agents work on in a container.

``task.toml`` with the limits, ``instruction.md``, ``environment/Dockerfile`` with the program to
improve, ``tests/test.sh`` which writes the reward, ``solution/solve.sh``. Harbor is not on the
package index here; the form is that of its public documentation, format version 1.0.

The scorer is no part of the agent's image: ``tests/`` is copied in when the agent has finished, and
installs EvoDuet bench then. So an agent finds neither the evaluator nor the anchors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from benchmark import provenance
from benchmark.peers.system import System, patience_s, reference
from benchmark.task import SUFFIXES, Task

TITLE = "Harbor"
FORMAT = "1.0"
INSTALL_S = 900
"""For installing EvoDuet bench and fetching data before a program is scored."""

AGENT_S = 4 * 3600
"""What an agent gets; change ``[agent] timeout_sec`` for other experiments."""

BUILD_S = 1200
STORAGE_MB = 10_240
BASE_IMAGE = "python:3.11-slim-bookworm"

_DIFFICULTY = {"cheap": "medium", "moderate": "hard", "expensive": "hard"}
_SYSTEM_PACKAGES = {"python": "", "cpp": "g++", "rust": "cargo gcc libc6-dev rustc"}


def _program(task: Task) -> str:
    return f"program{SUFFIXES[task.declared.language]}"


def _files(task: Task) -> Mapping[str, str]:
    return {
        "task.toml": _task_toml(task),
        "instruction.md": _instruction(task),
        "environment/Dockerfile": _dockerfile(task),
        "tests/test.sh": _test_script(task),
        "tests/reward.py": _reward_script(task),
        "solution/solve.sh": _solution(task),
        f"solution/{_program(task)}": task.initial_program.read_text(encoding="utf-8"),
        "README.md": _readme(task),
    }


def evaluations_s(task: Task) -> int:
    """Seconds that the verifier needs at most: installing, then one evaluation of each stage.

    Where a task's option limits the time of each held-out data set, for all of its data files.
    """
    declared = task.declared
    stages = 2 if declared.held_out else 1
    official = sum("official" in file.variants for file in declared.data)
    held_out = sum(
        float(option.default or 0)
        for name, option in declared.options.items()
        if name.endswith("_wall_s")
    )
    return INSTALL_S + stages * patience_s(task) + official * round(held_out)


def _task_toml(task: Task) -> str:
    declared = task.declared
    memory = declared.limits.memory_mb + 2048  # the verifier's own, and the agent's tools
    return f"""\
version = {_text(FORMAT)}

[metadata]
author_name = "EvoDuet bench"
author_email = "none"
difficulty = {_text(_DIFFICULTY[declared.cost])}
category = {_text(declared.domain_title)}
tags = [{_text("optimisation")}, {_text(task.domain)}, {_text(declared.language)}]
evoduet_task = {_text(task.id)}
evoduet_task_version = {declared.version}

[verifier]
timeout_sec = {float(evaluations_s(task))!r}

[agent]
timeout_sec = {float(AGENT_S)!r}

[environment]
build_timeout_sec = {float(BUILD_S)!r}
cpus = 2
memory_mb = {memory}
storage_mb = {STORAGE_MB}
"""


def _text(value: str) -> str:
    """A TOML basic string; JSON's is one."""
    return json.dumps(value, ensure_ascii=True)


def _instruction(task: Task) -> str:
    goal = {"min": "lower", "max": "higher"}[task.declared.direction]
    return f"""\
# {task.declared.title}

Improve the program `/app/{_program(task)}`. It is complete and valid as it stands. When you have
finished, that one file is evaluated on a machine of its own: a sandbox without network, \
{task.declared.limits.wall_s:g} s of wall time, {task.declared.limits.memory_mb} MB of memory,
where it can import what is installed here and nothing that you add. A program that breaks a rule,
crashes or runs too long scores 0. The measure is: {task.declared.reporting_metric} ({goal} is
better).

{task.instructions.rstrip()}
"""


def _dockerfile(task: Task) -> str:
    versions = provenance.versions()
    libraries = " ".join(f"{name}=={versions[name]}" for name in ("numpy", "scipy"))
    packages = _SYSTEM_PACKAGES[task.declared.language]
    lines = [f"FROM {BASE_IMAGE}"]
    if packages:
        lines.append(
            "RUN apt-get update -q"
            f" && apt-get install -y -q --no-install-recommends {packages}"
            " && rm -rf /var/lib/apt/lists/*"
        )
    lines += [
        f"RUN pip install --no-cache-dir {libraries}",
        "WORKDIR /app",
        f"COPY {_program(task)} /app/{_program(task)}",
    ]
    return "\n".join(lines) + "\n"


def _test_script(task: Task) -> str:
    version = provenance.versions()["evoduet"]
    return f"""\
#!/bin/bash
# Scores the program and writes the reward. Harbor runs it in the container when the agent is done:
#   bash /tests/test.sh [PROGRAM [FOLDER FOR THE REWARD]]
# EVODUET_PYTHON names an interpreter that has evoduet already; without it, one is installed from
# the wheel beside this file, or from the package index. No reward is written when that fails.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=${{1:-/app/{_program(task)}}}
rewards=${{2:-/logs/verifier}}
mkdir -p "$rewards"
rm -f "$rewards/reward.txt" "$rewards/reward.json"

python=${{EVODUET_PYTHON:-}}
if [ -z "$python" ]; then
  fresh=$(mktemp -d)
  python3 -I -m venv "$fresh"
  python=$fresh/bin/python
  wheel=$(find "$here" -maxdepth 1 -name 'evoduet-*.whl' | head -n 1)
  if [ -n "$wheel" ]; then wanted="$wheel[all]"; else wanted="evoduet[all]=={version}"; fi
  "$python" -I -m pip install --quiet "$wanted"
fi
exec "$python" -I "$here/reward.py" "$program" "$rewards"
"""


def _reward_script(task: Task) -> str:
    return f'''"""Scores one program on {task.id} for {TITLE}. Written by `evoduet adapt`."""

import sys

from benchmark.peers.harbor_reward import main

if __name__ == "__main__":
    sys.exit(main({json.dumps(reference(task))}))
'''


def _solution(task: Task) -> str:
    name = _program(task)
    return f"""\
#!/bin/bash
# The program that every agent starts from: valid, and by definition of reward 0.
set -euo pipefail
cp "$(dirname "$0")/{name}" "${{1:-/app}}/{name}"
"""


def _readme(task: Task) -> str:
    return f"""\
# {task.declared.title}, for {TITLE}

The task `{task.id}` of EvoDuet bench as a {TITLE} task (format {FORMAT}). {TITLE} was not at hand
when this was written; its loader has not read these files.

## Run

In the folder above this one, with an agent and a model of your choice:

```
harbor run -p {{this folder}} -a AGENT -m MODEL
```

The oracle agent (`solution/solve.sh`) leaves the initial program: its reward is 0, which shows that
everything works. Until the release of evoduet that wrote this folder is on the package index, put
its wheel into `tests/`.

## Reward

`tests/test.sh` writes `reward.txt` and `reward.json` to `/logs/verifier`. `reward` is NDG / 100: 0
at the initial program or below it and for programs that fail, 1 at the best published result, more
beyond it. `reward.json` also has `valid`, and where they are defined `ndg`, `ndg_raw`,
`search_score` and `objective`; `evaluation.json` is the whole record (`evoduet verify` reads it).
Where the task cannot be evaluated (data or a library is missing, the sandbox does not start), no
reward is written and the script fails: that is no fault of the agent.

## Trust

The scorer and its anchors are not in the agent's image; they are installed when the agent has
finished. The verifier still runs in the container in which the agent was root, as {TITLE} does it:
an agent that replaces `python3` or `pip` there can forge a reward. Score the program that is left
again elsewhere: `evoduet score {reference(task)} {_program(task)} --stage both`.
"""


SYSTEM = System("harbor", TITLE, "environment/program", _files, None, lambda task: [])
