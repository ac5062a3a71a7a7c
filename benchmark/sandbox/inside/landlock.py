"""Landlock: a process gives up, for itself and all its descendants, what it does not need.

Needs no privilege and no namespace. See ``Documentation/userspace-api/landlock.rst`` of Linux for
the numbers; each version of the kernel's interface (``abi()``) restricts more:

1 files, 2 renaming between folders, 3 truncating, 4 TCP, 5 device controls, 6 signals and abstract
Unix sockets.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SIGNALS_SINCE = 6
_TCP_SINCE = 4
_NEWEST_KNOWN = 6

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_SCOPE_ABSTRACT_UNIX, _SCOPE_SIGNAL = 1, 2
_BIND_TCP, _CONNECT_TCP = 1, 2

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK, _REFER = 1 << 6, 1 << 11, 1 << 13
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_ALL_SINCE = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV

ACCESS = {
    "read": _EXECUTE | _READ_FILE | _READ_DIR,
    "list": _READ_DIR,
    "device": _READ_FILE | _WRITE_FILE | _TRUNCATE,
    "write": (1 << 16) - 1 - _MAKE_CHAR - _MAKE_BLOCK - _IOCTL_DEV,
}
"""Kinds of access to a path and what lies beneath it; ``list`` shows the names in folders only."""


def abi() -> int:
    """Version of Landlock in this kernel; 0 where there is none."""
    version = _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG)
    return max(0, int(version))


def restrict(paths: Iterable[tuple[str, str]], network: bool) -> None:
    """Allow the given paths (path, kind of :data:`ACCESS`) only; no TCP unless ``network``.

    Also keeps signals and connections to abstract sockets inside. Paths that do not exist are left
    out. Raises ``OSError``.
    """
    version = min(abi(), _NEWEST_KNOWN)
    handled = _ALL_SINCE[max(since for since in _ALL_SINCE if since <= version)]
    tcp = _BIND_TCP | _CONNECT_TCP if version >= _TCP_SINCE and not network else 0
    scoped = _SCOPE_SIGNAL | _SCOPE_ABSTRACT_UNIX if version >= SIGNALS_SINCE else 0
    ruleset = _ruleset(version, handled, tcp, scoped)
    try:
        for path, kind in paths:
            _allow(ruleset, path, ACCESS[kind] & handled)
        _enforce(ruleset)
    finally:
        os.close(ruleset)


def keep_signals() -> None:
    """From now on this process and its descendants can signal only each other.

    Renaming between folders is denied by every layer that does not allow it, so this one does; what
    may be renamed is for :func:`restrict` to say.
    """
    ruleset = _ruleset(SIGNALS_SINCE, _REFER, 0, _SCOPE_SIGNAL)
    try:
        _allow(ruleset, "/", _REFER)
        _enforce(ruleset)
    finally:
        os.close(ruleset)


def _ruleset(version: int, files: int, tcp: int, scoped: int) -> int:
    numbers = 3 if version >= SIGNALS_SINCE else 2 if version >= _TCP_SINCE else 1
    attributes = struct.pack(f"={numbers}Q", *(files, tcp, scoped)[:numbers])
    return _checked(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            access &= _OF_FILES
        _checked(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", access, fd), 0)
    finally:
        os.close(fd)


def _enforce(ruleset: int) -> None:
    _checked(_RESTRICT_SELF, ruleset, 0)


def _checked(number: int, *arguments: object) -> int:
    result = int(_libc().syscall(number, *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"landlock: {os.strerror(code)}")
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
