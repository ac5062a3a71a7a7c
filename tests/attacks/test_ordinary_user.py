"""The attacks that matter most, with a harness that is no root (when the tests are)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile import EXPECTED, HERE, HONEST, NOT_PROMISED_BARE

from benchmark.sandbox import policy
from benchmark.sandbox.inside import landlock
from benchmark.sandbox.limits import NOBODY

CORE = [
    "forged_frame", "daemon_children", "fork_storm", "killing_parents", "meddling",
    "memory_flood", "disk_flood", "file_flood", "reading_environment", "reading_proc",
    "reading_repository", "importing_the_harness", "writing_outside", "symlinks",
]  # fmt: skip

SCRIPT = """
import ctypes, json, os, sys
from pathlib import Path
from hostile import EXPECTED, attack, nothing_left
from benchmark.harness import Harness
from benchmark.sandbox.jail import SandboxBroken

level, names = sys.argv[1], sys.argv[2:]
assert os.getuid() != 0
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # a sub-reaper: whatever escapes comes to us
os.environ["EVODUET_TEST_API_KEY"] = "key-of-the-attack-test"
try:
    harness = Harness(level)
except SandboxBroken as reason:
    print(json.dumps({"broken": str(reason)}))
    raise SystemExit
for name in names:
    folder = Path(name).absolute()
    folder.mkdir()
    with nothing_left(folder):
        result = attack(name, folder, harness, EXPECTED[name].wall_s)
    print(json.dumps([name, result.status, result.search, result.reason, result.isolation]))
"""


def interpreter_for_everybody() -> str:
    """An interpreter of this version that any user can execute; skips the test without one."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for candidate in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        path = Path(candidate)
        if not path.exists():
            continue
        places = (path, path.resolve())
        if all(policy.readable_by_all(p) and policy.reachable_by_all(p) for p in places):
            return candidate
    pytest.skip(f"no {version} that an ordinary user can execute")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can go to; pytest's own are closed, again and again."""
    with tempfile.TemporaryDirectory(prefix="attacks-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize("level", ["bubblewrap", "process"])
@pytest.mark.skipif(os.getuid() != 0, reason="the other attack tests run as an ordinary user")
def test_attacks_on_an_ordinary_users_harness(level: str, open_folder: Path) -> None:
    interpreter = interpreter_for_everybody()
    site_dirs = policy.visible().site_dirs
    if not all(policy.reachable_by_all(path / "numpy") for path in site_dirs):
        pytest.skip("the libraries lie where an ordinary user cannot read them")
    root = HERE.parents[1]
    copy = open_folder / "copy"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(root / "benchmark", copy / "benchmark", ignore=ignored)
    (copy / "tasks").mkdir()  # the catalogue wants the package, not what is in it
    (copy / "tasks" / "__init__.py").touch()
    shutil.copytree(HERE, copy / "tests" / "attacks", ignore=ignored)
    shutil.copy(root / "tests" / "hostile.py", copy / "tests")
    (copy / "script.py").write_text(SCRIPT)
    work = open_folder / "work"
    work.mkdir()
    os.chown(work, NOBODY, NOBODY)
    names = [
        name
        for name in CORE
        if level == "bubblewrap" or landlock.abi() or name not in NOT_PROMISED_BARE
    ]
    run = subprocess.run(
        [interpreter, "-B", str(copy / "script.py"), level, *names],
        cwd=work,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": os.pathsep.join(map(str, (copy, copy / "tests", *site_dirs))),
        },
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        capture_output=True,
        text=True,
        timeout=200,
    )
    results = [json.loads(line) for line in run.stdout.splitlines()]
    if results and isinstance(results[0], dict):
        pytest.skip(results[0]["broken"])
    assert [row[0] for row in results] == names, run.stderr
    for name, status, search, reason, isolation in results:
        assert status in EXPECTED[name].statuses.split(), (name, reason)
        assert EXPECTED[name].reason in reason
        assert search == (HONEST if status == "valid" else None), name
        assert isolation.startswith(level)
