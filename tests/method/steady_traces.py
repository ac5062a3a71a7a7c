"""What of a trace must be the same whenever, wherever and under whatever name a run was made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from method.trace import read_trace

VOLATILE = {
    *("run_id", "started", "ended", "latency_s", "wall_s", "cpu_s", "max_rss", "request_id"),
    "reruns",
}


def steady(value: Any) -> Any:
    """A record without what may differ between two runs of the same thing."""
    if isinstance(value, dict):
        return {name: steady(item) for name, item in value.items() if name not in VOLATILE}
    return [steady(item) for item in value] if isinstance(value, list) else value


def steady_trace(folder: Path) -> list[Any]:
    """The trace of a run without it."""
    return [steady(record) for record in read_trace(folder)]
