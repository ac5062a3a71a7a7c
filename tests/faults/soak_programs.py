"""The programs of the soak: each kind with what should become of it, and who writes them."""

from __future__ import annotations

import hashlib
import json
import random

from method.protocols import Completion, Request

KINDS = {
    # kind: how often in 100, program, statuses that are right
    "valid": (52, "def run_code():\n    return [{x}, {y}]\n", "ok"),
    "threads": (
        6,
        "import threading\n\n\ndef run_code():\n"
        "    made = []\n    workers = [threading.Thread(target=made.append, args=({x},))\n"
        "               for _ in range(3)]\n"
        "    [w.start() for w in workers]\n    [w.join() for w in workers]\n    return made\n",
        "ok",
    ),
    "invalid": (12, "def run_code():\n    return [{x}, 7.0]\n", "invalid"),
    "no_answer": (4, "def run_code():\n    return 'nothing, ' * {n}\n", "invalid"),
    "crash": (8, "def run_code():\n    return [{x}, 1 / 0]\n", "error"),
    "syntax": (3, "def run_code(:\n    return [{x}]\n", "error invalid"),
    "exit": (3, "import os\n\n\ndef run_code():\n    os._exit({n})\n", "error"),
    "killed": (
        3,
        "import os\n\n\ndef run_code():\n    os.kill(os.getpid(), 9)\n    return [{x}]\n",
        "error",
    ),
    "timeout": (4, "def run_code():\n    while True:\n        pass\n    return [{x}]\n", "timeout"),
    "memory": (
        5,
        "def run_code():\n    kept = [bytearray(1 << 24) for _ in range(64)]\n"
        "    return [{x}, len(kept)]\n",
        "error timeout",  # of a busy machine: it fills its memory slowly
    ),
}


class Author:
    """Writes programs: which one follows from the request alone, so a resumed run sees the same."""

    name = "soak"

    async def sample(self, request: Request) -> list[Completion]:
        return [self._program(request, slot) for slot in request.slots]

    def _program(self, request: Request, slot: int) -> Completion:
        asked = f"{slot}:{json.dumps(request.messages)}".encode()
        draw = random.Random(hashlib.sha256(asked).hexdigest())
        (kind,) = draw.choices(list(KINDS), [share for share, *_ in KINDS.values()])
        x, y = (round(draw.random(), 6) for _ in range(2))
        numbers = {"x": x, "y": y, "n": draw.randint(1, 9)}
        code = f"# kind: {kind} {draw.getrandbits(48):012x}\n" + KINDS[kind][1].format(**numbers)
        return Completion(text=f"```python\n{code}```", cost_usd=0.001, cost_source="table")
