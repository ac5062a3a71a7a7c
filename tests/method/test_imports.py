"""What importing the method costs: no client, no other framework, nothing for repairs."""

from __future__ import annotations

import subprocess
import sys

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
