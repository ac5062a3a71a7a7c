"""Fills its folder with traps for whoever reads or removes it."""

import os


def run_code():
    os.unlink("candidate.py")
    os.symlink("/etc/passwd", "candidate.py")
    os.symlink("/", "everything")
    os.symlink("..", "up")
    os.symlink("loop", "loop")
    os.mkfifo("pipe")
    for _ in range(1500):
        os.mkdir("deeper-and-deeper")
        os.chdir("deeper-and-deeper")
    os.symlink("/usr", "system")
    os.mkdir("locked")
    open("locked/file", "w").close()
    os.chmod("locked", 0)
    os.chmod(".", 0)
    return [0.25, 0.25, 0.25, 0.25]
