"""Leaves a marker wherever it can write, by every way of writing that it knows."""

import os
import sys

MARKER = "evoduet-attack-marker"
folders = {"/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/etc", "/root", "/home", "/usr/local",
           "..", "../..", os.path.expanduser("~root"), "/work", "/work/main"}  # fmt: skip
folders.update(path for path in sys.path if path)
folders.update(os.path.dirname(path) for path in sys.path if path)
for folder in folders:
    path = os.path.join(folder, MARKER)
    for write in (
        lambda path: open(path, "w").close(),
        os.mkdir,
        os.mkfifo,
        lambda path: os.symlink("/etc/passwd", path),
        lambda path: os.link("/usr/bin/env", path),
        lambda path: os.rename("candidate.py", path),
    ):
        try:
            write(path)
            break
        except OSError:
            continue


def run_code():
    return [0.25, 0.25, 0.25, 0.25]
