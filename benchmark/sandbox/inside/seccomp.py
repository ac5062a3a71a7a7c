"""A filter on system calls: closes what namespaces and Landlock leave open.

A rule names a system call and says when it fails: always, or depending on one argument. Calls that
no rule names pass. The filter binds the process that installs it and all its descendants.
"""

from __future__ import annotations

import errno
import os
import struct
import sys

_X86_64 = {
    "fcntl": 72, "clone": 56, "kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129,
    "rt_tgsigqueueinfo": 297, "pidfd_send_signal": 424, "prlimit64": 302, "socket": 41,
    "shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240, "ptrace": 101,
    "process_vm_readv": 310, "process_vm_writev": 311, "pidfd_getfd": 438, "unshare": 272,
    "setns": 308, "clone3": 435, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "add_key": 248, "request_key": 249, "keyctl": 250, "bpf": 321,
    "perf_event_open": 298, "userfaultfd": 323, "open_by_handle_at": 304,
}  # fmt: skip
_AARCH64 = {
    "fcntl": 25, "clone": 220, "kill": 129, "tkill": 130, "tgkill": 131, "rt_sigqueueinfo": 138,
    "rt_tgsigqueueinfo": 240, "pidfd_send_signal": 424, "prlimit64": 261, "socket": 198,
    "shmget": 194, "semget": 190, "msgget": 186, "mq_open": 180, "ptrace": 117,
    "process_vm_readv": 270, "process_vm_writev": 271, "pidfd_getfd": 438, "unshare": 97,
    "setns": 268, "clone3": 435, "io_uring_setup": 425, "io_uring_enter": 426,
    "io_uring_register": 427, "add_key": 217, "request_key": 218, "keyctl": 219, "bpf": 280,
    "perf_event_open": 241, "userfaultfd": 282, "open_by_handle_at": 265,
}  # fmt: skip
_MACHINES = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _AARCH64)}

_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_AT_LEAST, _JUMP_IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_AT_CALL, _AT_MACHINE, _AT_ARGUMENTS = 0, 4, 16
_FIRST_X32_CALL = 0x40000000

_NEW_USER_NAMESPACE = 0x10000000
_SET_OWNER, _SET_OWNER_EX = 8, 15  # fcntl: whom SIGIO goes to


class Rule:
    """``call`` fails with ``error``: always, or if argument ``argument`` (its low 32 bits) is one
    of ``values`` (``when="is"``), none of them (``"is not"``) or has a bit of them (``"has"``)."""

    def __init__(
        self,
        call: str,
        when: str = "always",
        values: tuple[int, ...] = (),
        *,
        argument: int = 0,
        error: int = errno.EPERM,
    ) -> None:
        self.call = call
        self.when = when
        self.values = values
        self.argument = argument
        self.error = error


SURFACE = (
    *(Rule(name) for name in (
        "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "unshare", "setns",
        "io_uring_setup", "io_uring_enter", "io_uring_register", "add_key", "request_key",
        "keyctl", "bpf", "perf_event_open", "userfaultfd", "open_by_handle_at",
    )),
    Rule("clone", "has", (_NEW_USER_NAMESPACE,)),
    Rule("clone3", error=errno.ENOSYS),  # its flags cannot be seen from here; libc then uses clone
)  # fmt: skip
"""What no candidate needs: looking into other processes, the harness's keyring, new namespaces,
and the parts of the kernel with the longest record of holes."""


def without_namespaces(protected: tuple[int, ...], network: bool) -> tuple[Rule, ...]:
    """The rules where other processes of this user can be seen.

    ``protected`` are process ids that must get no signal, negative ones process groups. There are
    no sockets: a path cannot be seen from here, and one may lead to a powerful daemon.
    """
    targets = (-1, *protected)
    signals = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
    return (
        *SURFACE,
        *(Rule(name, "is", targets) for name in signals),
        Rule("pidfd_send_signal"),
        Rule("fcntl", "is", (_SET_OWNER, _SET_OWNER_EX), argument=1),
        Rule("prlimit64", "is not", (0,)),
        *(Rule(name) for name in ("shmget", "semget", "msgget", "mq_open")),
        *(() if network else (Rule("socket", error=errno.EACCES),)),
    )


def program(rules: tuple[Rule, ...]) -> bytes:
    """The filter as the kernel reads it (``struct sock_filter[]``); empty on unknown machines."""
    machine = os.uname().machine
    if machine not in _MACHINES or sys.maxsize < 2**32:
        return b""
    audit_number, calls = _MACHINES[machine]
    code = [
        (_LOAD, 0, 0, _AT_MACHINE),
        (_JUMP_IF_EQUAL, 1, 0, audit_number),
        (_RETURN, 0, 0, _FAIL | errno.EPERM),  # the 32-bit calls of the same processor
        (_LOAD, 0, 0, _AT_CALL),
    ]
    if machine == "x86_64":
        code += [
            (_JUMP_IF_AT_LEAST, 0, 1, _FIRST_X32_CALL),
            (_RETURN, 0, 0, _FAIL | errno.EPERM),
        ]
    for rule in rules:
        body = _body(rule)
        code += [(_JUMP_IF_EQUAL, 0, len(body), calls[rule.call]), *body]
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _body(rule: Rule) -> list[tuple[int, int, int, int]]:
    """What happens once the call is known to be the rule's."""
    fail = (_RETURN, 0, 0, _FAIL | rule.error)
    allow = (_RETURN, 0, 0, _ALLOW)
    if rule.when == "always":
        return [fail]
    test = _JUMP_IF_ANY_BIT if rule.when == "has" else _JUMP_IF_EQUAL
    count = len(rule.values)
    hit, miss = (allow, fail) if rule.when == "is not" else (fail, allow)
    # Each test jumps over the tests behind it and over `miss`.
    tests = [(test, count - i, 0, value & 0xFFFFFFFF) for i, value in enumerate(rule.values)]
    return [(_LOAD, 0, 0, _AT_ARGUMENTS + 8 * rule.argument), *tests, miss, hit]


def install(filter_program: bytes) -> None:
    """Bind this process, which must have given up new privileges. Raises ``OSError``."""
    import ctypes

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))

    libc = ctypes.CDLL(None, use_errno=True)
    content = Program(len(filter_program) // 8, filter_program)
    set_seccomp, mode_filter = 22, 2
    if libc.prctl(set_seccomp, mode_filter, ctypes.byref(content), 0, 0):
        code = ctypes.get_errno()
        raise OSError(code, f"seccomp: {os.strerror(code)}")
