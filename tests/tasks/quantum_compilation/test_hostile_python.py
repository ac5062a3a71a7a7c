"""Policies in Python that break, hang, spy or forge: each gets its verdict, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
import routing_policies as policies
from routing_policies import Judge

from benchmark import Invalid
from benchmark.evaluator import Crashed
from tasks.quantum_compilation.swap_reduction import routing


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def broken(:", "does not load: the policy raised SyntaxError"),
        ("import nothing_of_the_kind", "does not load: .*ModuleNotFoundError"),
        ("x = 1", "defines no CandidatePolicy"),
        ("class CandidatePolicy:\n    def __init__(self, size): pass", "does not load.*TypeError"),
        ("import benchmark", "ModuleNotFoundError"),
        ("from tasks.quantum_compilation import replay", "ModuleNotFoundError"),
    ],
)
def test_python_that_does_not_load(judge: Judge, source: str, said: str) -> None:
    with pytest.raises(Crashed, match=said):
        judge(source, ".py")


@pytest.mark.parametrize(
    ("swap", "said"),
    [
        ("raise ValueError('no idea')", "the policy raised ValueError: no idea"),
        ("return 3", "TypeError"),
        ("return (0, 19)", "all runs failed"),
        ("import os; os._exit(3)", "exited with status 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL"),
        ("import sys; sys.exit(0)", "no readable trace"),
        ("open('trace.json', 'w').write('{\"initial_layout\": [true], \"swaps\": []}')\n"
         "import os; os._exit(0)", "layout_length"),
        ("open('trace.json', 'w').write('{\"initial_layout\": ' + '9' * 10000 + '}')\n"
         "import os; os._exit(0)", "no readable trace"),
        ("open('trace.json', 'w').write('{\"error\": {\"a\\\\u001b\": 1}}')\n"
         "import os; os._exit(0)", "'a"),
        ("import os; os.mkdir('trace.json'); return None", "exited with status 1"),
    ],
)  # fmt: skip
def test_python_that_fails_everywhere(judge: Judge, swap: str, said: str) -> None:
    with pytest.raises(Invalid, match=f"every case failed.*({said})") as caught:
        judge(policies.python_policy(swap), ".py")
    assert str(caught.value).isprintable()


def test_python_that_tampers_with_the_router_fails(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "CASE_S", 3.0)
    tampering = (
        "places = ctx.layout().logical_to_physical()\nplaces[0], places[1] = places[1], places[0]",
        "import swap_router.run as run\nrun.Run._is_adjacent = lambda self, node: True",
        "ctx.front_layer()._pairs.clear()",
    )
    for code in tampering:
        with pytest.raises(Invalid, match="every case failed"):
            judge(policies.python_policy(f"{code}\nreturn ctx.topology().edges()[0]"), ".py")


def test_python_has_no_files_of_the_host(judge: Judge, host_file: Path) -> None:
    places = [str(host_file), str(Path(__file__)), str(policies.TASK / "data")]
    swap = f"import os\nassert not any(map(os.path.exists, {places})), 'seen'\nreturn None"
    _, score = judge(policies.python_policy(swap), ".py")
    assert score.metrics["cases_failed"] == 0, score.attachments
