"""The distance of a formula's form from the true law, in a process of its own with a time limit.

Simplifying a formula can take for ever; then there is no distance, and the score is as it was.
Run as ``python -m`` with the formula as a JSON text on stdin; prints the distance.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys

TIME_LIMIT_S = 20


def edit_distance(text: str) -> float | None:
    """Normalised tree edit distance of a formula of the grammar; ``None`` where it fails."""
    search_path = os.pathsep.join(entry for entry in sys.path if entry)
    try:
        finished = subprocess.run(
            [sys.executable, "-P", "-m", __name__],
            input=json.dumps(text).encode("ascii"),
            capture_output=True,
            timeout=TIME_LIMIT_S,
            env={**os.environ, "PYTHONPATH": search_path},
            check=True,
        )
        return float(finished.stdout)
    except (subprocess.SubprocessError, OSError, ValueError):
        return None


def main() -> None:
    """The process: any exception ends it, and that is the answer."""
    # Should the one who waits be killed, this still ends.
    resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT_S + 5, TIME_LIMIT_S + 5))
    from tasks.simple_science.feynman_i_27_6 import expression, symbolic

    print(symbolic.edit_distance(expression.parse(json.load(sys.stdin))))


if __name__ == "__main__":
    main()
