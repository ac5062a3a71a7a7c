"""Traces its parent, reads and writes its memory, shrinks its limits, asks for its keys."""

import ctypes
import os
import resource

libc = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH, KEYCTL_JOIN = 16, 1
done = []


def run_code():
    for target in (1, os.getppid()):
        if libc.ptrace(PTRACE_ATTACH, target, 0, 0) == 0:
            done.append("ptrace")
        buffer = ctypes.create_string_buffer(8)
        parts = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
        if libc.process_vm_readv(target, parts, 1, parts, 1, 0) > 0:
            done.append("process_vm_readv")
        try:
            resource.prlimit(target, resource.RLIMIT_CPU, (1, 1))  # the harness must survive it
        except (OSError, ValueError):
            pass
    if libc.syscall(250, KEYCTL_JOIN, 0) >= 0:
        done.append("keyctl")
    if libc.unshare(0x10000000) == 0:
        done.append("unshare")
    return [1.0, 1.0, 1.0, 1.0] if done else [0.25, 0.25, 0.25, 0.25]
