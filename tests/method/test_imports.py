"""What importing the method costs: no client, no other framework, nothing for repairs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MODULES = (
    *("rules", "prompting", "rendering", "snapshot", "identity", "searchdb", "searchcache"),
    *("stats", "gates", "inner", "evidence", "exposure", "asking", "parsing.candidates"),
    *("parsing.json_answers", "retrievers.none", "retrievers.oracle", "retrievers.joint"),
    *("retrievers.sequential", "retrievers.evoduet"),
)
HEAVY = ("litellm", "openevolve", "skydiscover", "json_repair", "yaml", "tavily", "numpy", "httpx")


def test_imports_are_light() -> None:
    lines = [f"import method.{name}" for name in MODULES]
    lines += ["import sys", f"print([name for name in {HEAVY!r} if name in sys.modules])"]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


EXTRAS = ("litellm", "openevolve", "skydiscover", "tavily", "openai", "ray", "tenacity")

BLOCKED = f"""
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refuse())
"""
"""An installation without extras."""


def without_extras(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", BLOCKED + code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_packages_import_neither_client_nor_framework() -> None:
    names = without_extras("import benchmark, method\nprint(*sys.modules)").split()
    loaded = {name.partition(".")[0] for name in names}
    assert {"benchmark", "method"} <= loaded
    assert not loaded & {*EXTRAS, *HEAVY}


def test_help_and_scores_need_no_extra(tmp_path: Path) -> None:
    main = "sys.argv = ['evoduet', *sys.argv[1:]]\nfrom benchmark.cli import main\nmain()"
    assert "Usage" in without_extras(main, "--help")
    assert "--method" in without_extras(main, "run", "--help")
    program = tmp_path / "program.py"
    program.write_text("import numpy as np\n\n\ndef run_code():\n    return np.zeros((26, 3))\n")
    code = f"""
from benchmark.cli import main
sys.argv = ["evoduet", "score", "cp26", {str(program)!r}, "--json"]
try:
    main()
except SystemExit as end:
    assert end.code in (0, 1), end.code
"""
    assert json.loads(without_extras(code))["status"] in ("valid", "invalid")


def test_a_run_offline_needs_no_extra(tmp_path: Path) -> None:
    code = """
import pathlib
sys.path[:0] = sys.argv[2:]
from fake_task import clients, config
from method.runs import replay, run
folder = pathlib.Path(sys.argv[1])
result = run(config(iterations=3), folder, clients=clients())
assert replay(folder).summary == result.summary
print(result.status)
"""
    here = Path(__file__).parent
    assert without_extras(code, str(tmp_path / "run"), str(here)).strip() == "finished"
