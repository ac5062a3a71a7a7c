"""Locks for :mod:`multiprocessing` where ``/dev/shm`` is closed.

The standard ones are named semaphores, files in a folder that all programs of the machine share.
These are semaphores without a name, in memory that forked processes share; with the start method
``spawn`` they cannot be had.
"""

from __future__ import annotations

import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_RECURSIVE = 0
_BYTES = 32  # of sem_t on every 64-bit Linux


class SemLock:
    """Stands in for ``_multiprocessing.SemLock``: same methods, same errors."""

    SEM_VALUE_MAX = 2**31 - 1

    def __init__(self, kind: int, value: int, maxvalue: int, name: str, unlink: bool) -> None:
        import ctypes
        import mmap

        if not unlink:
            raise OSError("only the start method 'fork' of multiprocessing works in this sandbox")
        self.kind = kind
        self.maxvalue = maxvalue
        self.name = None
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._memory = mmap.mmap(-1, _BYTES)  # shared with children
        self._semaphore = (ctypes.c_char * _BYTES).from_buffer(self._memory)
        self.handle = ctypes.addressof(self._semaphore)
        self._libc.sem_init(self._semaphore, 1, value)
        self._held = 0
        self._owner = 0

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        """Wait for one unit, ``timeout`` seconds at most; True when it was got."""
        if self.kind == _RECURSIVE and self._is_mine():
            self._held += 1
            return True
        if not block:
            deadline: float | None = 0.0
        else:
            deadline = None if timeout is None else time.time() + max(0.0, timeout)
        if not self._wait(deadline):
            return False
        self._held += 1
        self._owner = threading.get_ident()
        return True

    def _wait(self, deadline: float | None) -> bool:
        """Take one unit until ``deadline`` (seconds since the epoch)."""
        import ctypes
        import errno

        while True:
            if deadline is None:
                failed = self._libc.sem_wait(self._semaphore)
            else:
                seconds = int(deadline)
                until = (ctypes.c_long * 2)(seconds, int((deadline - seconds) * 1e9))
                failed = self._libc.sem_timedwait(self._semaphore, until)
            if not failed:
                return True
            if ctypes.get_errno() != errno.EINTR:
                return False

    def release(self) -> None:
        """Give one unit back."""
        if self.kind == _RECURSIVE:
            if not self._is_mine():
                raise AssertionError("attempt to release recursive lock not owned by thread")
            if self._held > 1:
                self._held -= 1
                return
        elif self._get_value() >= self.maxvalue:
            raise ValueError("semaphore or lock released too many times")
        self._libc.sem_post(self._semaphore)
        self._held -= 1

    def _get_value(self) -> int:
        import ctypes

        value = ctypes.c_int()
        self._libc.sem_getvalue(self._semaphore, ctypes.byref(value))
        return value.value

    def _is_zero(self) -> bool:
        return self._get_value() == 0

    def _is_mine(self) -> bool:
        return self._held > 0 and self._owner == threading.get_ident()

    def _count(self) -> int:
        return self._held

    def _after_fork(self) -> None:
        self._held = 0

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *problem: object) -> None:
        self.release()


def install() -> None:
    """Make :mod:`multiprocessing` use them, without importing it."""
    try:
        import _multiprocessing  # type: ignore[import-not-found]
    except ImportError:
        return
    standard: Any = _multiprocessing
    standard.SemLock = SemLock
