"""The world in which a search strategy of EvoX runs: it repeats, and notices forbidden acts.

This file is copied into the sandbox beside :mod:`method.scaffolds.evox_host`. Clock, ids and random
numbers are functions of a seed there, so that a replay sees the same answers. The guard makes
forbidden acts errors that can be told to a model; what contains a strategy that gets around it is
the sandbox.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import random
import re
import sys
import time
from collections.abc import Callable
from typing import Any

WORLD_FILE = "evox_world.py"
HOST_FILE = "evox_host.py"
STRATEGY_FILE = "strategy.py"
CHECK_FILE = "strategy_check.py"
CONTEXT = 4
"""Context programs of an iteration."""
MESSAGE_CHARS = 300


def digest(code: str, metrics: Any) -> str:
    """What a program must keep while a strategy holds it: source and metrics."""
    return hashlib.sha256(json.dumps([code, metrics], sort_keys=True).encode()).hexdigest()


def steady(words: str) -> str:
    """One printable line without addresses, cut to what a prompt needs."""
    plain = re.sub(r"0x[0-9a-fA-F]+", "0x…", " ".join(words.split()))
    return "".join(letter for letter in plain if letter.isprintable())[:MESSAGE_CHARS]


# --- a world that repeats --------------------------------------------------------------------


class Repeatable:
    """Clock, ids and random numbers that depend on a seed alone."""

    STEP_S = 0.001
    """What the clock advances when it is looked at, so that waiting loops come to an end."""

    def __init__(self) -> None:
        self._looks = 0
        self._entropy = random.Random(0)
        self._seed_global = random.seed

    def install(self) -> None:
        """Replace what differs between two runs. Call before anything else is imported."""
        for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
            setattr(time, name, self.now)
            setattr(time, f"{name}_ns", lambda: int(self.now() * 1e9))
        datetime.datetime = _clocked(datetime.datetime, self.now)  # type: ignore[misc]
        os.urandom = self._entropy.randbytes
        random._urandom = self._entropy.randbytes  # type: ignore[attr-defined]
        random.Random = _seeded(random.Random, self.draw)  # type: ignore[misc]
        random.seed = lambda a=None, version=2: self._seed_global(
            self.draw() if a is None else a, version
        )

    def start(self, seed: int) -> None:
        """Everything as at the beginning of a run with this seed."""
        self._looks = 0
        self._entropy.seed(seed)
        random.seed(self.draw())
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            numpy.random.seed(self.draw() % 2**32)

    def now(self) -> float:
        self._looks += 1
        return self._looks * self.STEP_S

    def draw(self) -> int:
        return self._entropy.getrandbits(64)


def _clocked(base: type[datetime.datetime], now: Callable[[], float]) -> type[datetime.datetime]:
    class Clocked(base):  # type: ignore[misc, valid-type]
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(now(), tz)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromtimestamp(now(), datetime.UTC).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(now())

    return Clocked


def _seeded(base: type[random.Random], draw: Callable[[], int]) -> type[random.Random]:
    class Seeded(base):  # type: ignore[misc, valid-type]
        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            return base.__new__(cls)

        def seed(self, a: Any = None, version: int = 2) -> None:
            super().seed(draw() if a is None else a, version)

    return Seeded


# --- forbidden acts --------------------------------------------------------------------------

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_ACTS = {
    "socket.__new__": "open a socket",
    "os.system": "start a process",
    "os.exec": "start a process",
    "os.fork": "start a process",
    "os.forkpty": "start a process",
    "os.posix_spawn": "start a process",
    "subprocess.Popen": "start a process",
    "os.kill": "send a signal",
    "os.mkdir": "change files",
    "os.remove": "change files",
    "os.rename": "change files",
    "os.rmdir": "change files",
    "os.link": "change files",
    "os.symlink": "change files",
    "os.truncate": "change files",
}


class Guard:
    """Notices what a strategy must not do; an act once tried spoils every later answer."""

    def __init__(self) -> None:
        self.tried = ""

    def watch(self) -> None:
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        act = _ACTS.get(event)
        if event == "open" and _opens_for_writing(*args):
            act = "write a file"
        if act:
            self.tried = f"the strategy tried to {act}; strategies may not"
            raise PermissionError(self.tried)


def _opens_for_writing(path: Any, mode: Any, flags: Any) -> bool:
    if isinstance(mode, str) and any(letter in mode for letter in "wax+"):
        return True
    return isinstance(flags, int) and bool(flags & _WRITING)
