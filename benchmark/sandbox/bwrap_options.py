"""What bubblewrap is told: namespaces, identity, and the file system that a candidate sees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmark.sandbox import policy
from benchmark.sandbox.limits import Limits

SCRATCH = "/tmp"
SHARED_MEMORY = "/dev/shm"
INSIDE = "/run/inside"
ID = str(policy.INSIDE_ID)


def isolation(network: bool) -> list[str]:
    options = [
        "--unshare-pid", "--as-pid-1", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
        "--hostname", "sandbox", "--cap-drop", "ALL", "--die-with-parent", "--new-session",
        "--clearenv",
    ]  # fmt: skip
    return options if network else ["--unshare-net", *options]


def identity(users: int | None) -> list[str]:
    if users is None:
        return ["--unshare-user", "--uid", ID, "--gid", ID, "--disable-userns"]
    return ["--userns", str(users), "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]


def mounts(limits: Limits, extra: Sequence[Path], nobody: bool) -> list[str]:
    shown = policy.visible()
    scratch_bytes = str(limits.scratch_mb << 20)
    options = ["--perms", own(nobody), "--size", scratch_bytes, "--tmpfs", SCRATCH]
    for path, target in shown.symlinks:
        options += ["--symlink", target, str(path)]
    # Shallow paths first: a mask hides what is above it, a deeper bind shows through a mask.
    steps = [(path, "bind") for path in (*shown.paths, *extra)]
    steps += [(path, "mask") for path in shown.masked]
    options += _way_to([*(path for path, _ in steps), Path(INSIDE)], shown.paths)
    sealed: list[str] = []  # at the end: what is bound inside a mask needs its folders made there
    for path, step in sorted(steps, key=lambda item: len(item[0].parts)):
        if step == "bind":
            options += _way_within_masks(path, shown.masked)
            options += ["--ro-bind", str(path), str(path)]
        elif path.is_dir():
            options += ["--perms", "0555", "--size", "4096", "--tmpfs", str(path)]
            sealed += ["--remount-ro", str(path)]
        else:
            options += ["--ro-bind", "/dev/null", str(path)]
    options += ["--ro-bind", str(policy.INSIDE), INSIDE, "--proc", "/proc", "--dev", "/dev"]
    options += ["--perms", own(nobody), "--size", scratch_bytes, "--tmpfs", SHARED_MEMORY]
    # Root's settings of the kernel (/proc/sys) belong to root, whom a sandbox of root's still is.
    sealed += ["--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"]
    return [*options, *sealed]


def _way_to(targets: Sequence[Path], bound: Sequence[Path]) -> list[str]:
    """Make the folders above all targets, open to everybody (bwrap would make some private)."""
    parents = {parent for target in targets for parent in target.parents}
    made = [path for path in parents if not any(path.is_relative_to(shown) for shown in bound)]
    options: list[str] = []
    for path in sorted(made, key=lambda path: len(path.parts))[1:]:  # without the root itself
        options += ["--perms", "0755", "--dir", str(path)]
    return options


def _way_within_masks(path: Path, masked: Sequence[Path]) -> list[str]:
    """The folders between a mask and what shows through it, open to everybody."""
    options: list[str] = []
    for mask in masked:
        if path.is_relative_to(mask):
            between = [parent for parent in path.parents if parent.is_relative_to(mask)]
            for parent in sorted(between, key=lambda parent: len(parent.parts))[1:]:
                options += ["--perms", "0755", "--dir", str(parent)]
    return options


def own(nobody: bool) -> str:
    """Permissions of what belongs to the candidate, who is nobody or the owner himself."""
    return "0777" if nobody else "0700"
