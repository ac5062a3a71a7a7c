"""Full and read-only disks: nothing is lost, nothing is done twice, and the message says where."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from namespaces import run_with_mounts

HEAD = """
import json
from pathlib import Path
from fake_task import LocalEvaluator, clients, config
from method.journal import read_journal
from method.runs import Clients, resume, run, summarise
from method.trace import read_trace
root = Path(sys.argv[1])
"""

FULL_RUN = (
    HEAD
    + """
from steady_traces import steady_trace
whole = root / "whole"
run(config(iterations=12), whole, clients=clients())
expected = steady_trace(whole)
sizes = []
for size in (40, 80, 120, 200):
    disk = tmpfs(root / f"disk{size}", f"{size}k")
    folder = disk / "run"
    try:
        run(config(iterations=12), folder, clients=clients())
        sizes.append([size, "fits"])
        continue
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
    before = read_journal(folder)
    there = [e.name for e in before]
    resized(disk, "64m")
    again = LocalEvaluator()
    rest = clients(again)
    resume(folder, clients=rest)
    after = [e.name for e in read_journal(folder)]
    assert steady_trace(folder) == expected, size
    new = after[len(there):]
    assert read_journal(folder)[: len(there)] == before
    assert rest.model.calls == new.count("model_call"), size
    assert len(again.evaluated) == new.count("evaluation"), size
    verdicts = [tuple(e.data["key"]) for e in read_journal(folder) if e.name == "evaluation"]
    assert len(verdicts) == len(set(verdicts))
    sizes.append([size, reason])
print(json.dumps(sizes))
"""
)


def test_a_run_on_a_full_disk_goes_on_when_there_is_room(tmp_path: Path) -> None:
    found = json.loads(run_with_mounts(FULL_RUN, tmp_path).stdout)
    stopped = [reason for _, reason in found if reason != "fits"]
    assert len(stopped) >= 2
    for reason in stopped:  # the journal, a text beside it, or the search cache
        assert re.search("No space left on device|disk I/O error|disk is full", reason)


FULL_COMMAND = """
from pathlib import Path
import json
root = Path(sys.argv[1])
disk = tmpfs(root / "disk", "200k")
started = evoduet("run", "--task", "sums_diffs", "--method", "evoduet", "--model",
                  "offline/perturb", "--iterations", 12, "--candidates", 2, "--out", disk / "run")
status = json.loads(evoduet("runs", disk, "--json").stdout)["runs"][0]["status"]
resized(disk, "64m")
resumed = evoduet("resume", disk / "run", "--json")
verified = evoduet("verify", disk / "run", "--json")
print(json.dumps([started.returncode, started.stderr, status, resumed.returncode,
                  json.loads(resumed.stdout)["done"], verified.returncode]))
"""


@pytest.mark.slow
def test_the_command_says_which_disk_and_how_to_go_on(tmp_path: Path) -> None:
    code, said, status, resumed, done, verified = json.loads(
        run_with_mounts(FULL_COMMAND, tmp_path).stdout
    )
    assert code == 75
    last = said.strip().splitlines()[-1]
    assert str(tmp_path / "disk" / "run") in last
    assert re.search("No space left on device|disk I/O error|disk is full", last)
    assert "evoduet resume" in last
    assert status in ("running", "interrupted")
    assert (resumed, done, verified) == (0, 12, 0)


READ_ONLY_RUN = """
from pathlib import Path
import json, shutil
root = Path(sys.argv[1])
run = root / "runs" / "run"
evoduet("run", "--task", "sums_diffs", "--method", "none", "--model", "offline/perturb",
        "--iterations", 3, "--out", run)
journal = (run / "journal.jsonl").read_bytes()
read_only(root / "runs")
told = []
for words in (["resume", run], ["run", "--task", "labs_27", "--method", "none", "--model",
              "offline/perturb", "--iterations", 2, "--out", root / "runs" / "new"],
              ["bundle", run, "--out", root / "runs" / "b.tar.gz"],
              ["suite", "--select", "labs_27", "--out", root / "runs" / "s.json"]):
    answer = evoduet(*words)
    told.append([answer.returncode, answer.stderr])
looked = [evoduet(*words).returncode for words in (["runs", root / "runs"], ["replay", run],
          ["best", run], ["verify", run], ["bundle", run, "--out", root / "b.tar.gz"])]
assert (run / "journal.jsonl").read_bytes() == journal
print(json.dumps([told, looked]))
"""


@pytest.mark.slow
def test_a_read_only_folder_of_runs_can_be_read(tmp_path: Path) -> None:
    told, looked = json.loads(run_with_mounts(READ_ONLY_RUN, tmp_path).stdout)
    assert looked == [0, 0, 0, 0, 0]
    for code, said in told:
        assert code in (2, 75)
        assert "Read-only file system" in said.strip().splitlines()[-1]
        assert str(tmp_path / "runs") in said
        assert "Traceback" not in said


DATA = """
from pathlib import Path
import json, os, shutil
from benchmark.catalogue import find_task
root, mirror = Path(sys.argv[1]), Path(sys.argv[2])
program = find_task("u_shape").initial_program
env = {"EVODUET_DATA": str(root / "data"), "EVODUET_DATA_MIRROR": str(mirror)}
score = ["score", "u_shape", program, "--variant", "official", "--stage", "both", "--json"]
assert evoduet("data", "fetch", "u_shape", **env).returncode == 0
read_only(root / "data")
# The mirror is gone, the cache is read-only: what is in it is checked and used.
env["EVODUET_DATA_MIRROR"] = ""
scored = evoduet(*score, **env)
empty = root / "empty"
empty.mkdir()
read_only(empty)
env["EVODUET_DATA"] = str(empty)
missing = evoduet(*score, **env)
env["EVODUET_DATA_MIRROR"] = str(mirror)
fetched = evoduet("data", "fetch", "u_shape", **env)
from_mirror = evoduet(*score, **env)
(root / "full").mkdir()
disk = tmpfs(root / "full", "8k")
env["EVODUET_DATA"] = str(disk)
full = evoduet("data", "fetch", "u_shape", **env)
left = sorted(p.name for p in disk.rglob("*") if p.is_file() and not p.name.endswith(".lock"))
resized(disk, "16m")
refetched = evoduet("data", "fetch", "u_shape", **env)
print(json.dumps([[a.returncode, a.stdout, a.stderr]
                  for a in (scored, missing, fetched, from_mirror, full, refetched)] + [left]))
"""


@pytest.mark.slow
def test_data_on_a_read_only_or_full_disk(shared: Path, tmp_path: Path) -> None:
    *answers, left = json.loads(run_with_mounts(DATA, tmp_path, shared / "data").stdout)
    scored, missing, fetched, from_mirror, full, refetched = answers
    for code, out, said in (scored, from_mirror):
        assert code == 0, said
        assert json.loads(out)["provenance"]["variant"] == "official"
    record = json.loads(missing[1])
    assert (missing[0], record["status"]) == (3, "unavailable")
    assert "evoduet data fetch" in record["reason"]
    for code, out, said in (fetched, full):
        assert code == 3
        assert "Traceback" not in said
        assert "Read-only file system" in out + said or "No space left" in out + said
    assert not [name for name in left if name.endswith((".csv", ".new"))]
    assert refetched[0] == 0


FULL_SCORE = """
from pathlib import Path
import json
from toy_task import write_toy_task
root = Path(sys.argv[1])
task = write_toy_task(root)
disk = tmpfs(root / "disk", "16k")
with open(disk / "filler", "wb", buffering=0) as file:
    try:
        while file.write(b"x" * 512):
            pass
    except OSError:
        pass
program = root / "p.py"
program.write_text("def run_code(): return [1.0]\\n")
suite = evoduet("suite", "--select", "labs_27", "--out", disk / "s.json")
score = evoduet("score", task, program, "--json", TMPDIR=str(disk))
print(json.dumps([[a.returncode, a.stdout, a.stderr] for a in (suite, score)]))
"""


def test_a_full_disk_is_never_a_bad_score(tmp_path: Path) -> None:
    suite, score = json.loads(run_with_mounts(FULL_SCORE, tmp_path).stdout)
    assert suite[0] == 2
    assert "No space left on device" in suite[2]
    record = json.loads(score[1])
    assert record["status"] in ("valid", "unavailable")
    if record["status"] == "unavailable":
        assert score[0] == 3
        assert "infrastructure" in record["reason"]
    else:
        assert record["search"] == pytest.approx(1.0)
