"""`evoduet report`: what the file holds, before any browser reads it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer
from report_study import HOSTILE, HOSTILE_URLS, METHODS, RunFolder, write_study
from typer.testing import CliRunner

from analysis.audit import write_audit
from analysis.report.build import write_report
from analysis.report.details import change, lineage
from analysis.report.packing import plain_json
from analysis.report.rows import read_rows
from analysis.rows import DataProblem
from analysis.traces import open_trace
from benchmark.commands import report
from benchmark.commands.options import UsageProblem
from method.trace import check_trace

app = typer.Typer(pretty_exceptions_enable=False)
app.command("report")(report.report)


class Elements(HTMLParser):
    """Elements and the texts of scripts, as a browser's parser finds them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self._in_script = False
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.meta: list[dict[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._in_script = tag == "script"
        if tag == "script":
            self.scripts.append((dict(attrs), ""))
        if tag == "meta":
            self.meta.append(dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)


class Page:
    """A written report, unpacked."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        self.elements = Elements(self.text)
        scripts = self.elements.scripts
        self.blocks = {
            str(attributes["id"]): json.loads(zlib.decompress(base64.b64decode(text)))
            for attributes, text in scripts
            if attributes.get("type") == "application/octet-stream"
        }
        (index,) = [t for a, t in scripts if a.get("type") == "application/json"]
        self.index: dict[str, Any] = json.loads(index)
        (self.script,) = [t for a, t in scripts if "type" not in a]

    def details(self, run: int) -> dict[int, Any]:
        """Opened iterations of a run by ``t``."""
        found = {}
        for row in self.blocks[f"run-{run}"]["rows"]:
            if row["chunk"] is not None:
                chunk = self.blocks[f"run-{run}-{row['chunk']}"]
                found[row["t"]] = chunk["iterations"][str(row["t"])]
        return found


def built(tmp_path: Path, *places: Path, **more: Any) -> Page:
    out = tmp_path / "report.html"
    write_report(places or [tmp_path / "runs"], out, **more)
    return Page(out)


def test_made_up_runs_keep_the_schema(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "a", strings=HOSTILE, urls=HOSTILE_URLS).write()
    check_trace(open_trace(folder).iter_records())


def test_every_record_comes_back_as_it_was(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "runs" / "a", iterations=30).write()
    page = built(tmp_path, details="all")
    records = {r["t"]: r for r in open_trace(folder).iter_records()}
    opened = page.details(0)
    assert sorted(opened) == sorted(records) == list(range(1, 31))
    assert all(opened[t]["record"] == record for t, record in records.items())
    body = next(r["documents"][0]["body_sha256"] for r in records.values() if r["documents"])
    chunks = [block for block in page.blocks.values() if "bodies" in block]
    assert any(
        chunk["bodies"].get(body, {}).get("text", "").startswith("Page ") for chunk in chunks
    )


def test_improving_is_what_leads_to_the_best(tmp_path: Path) -> None:
    RunFolder(tmp_path / "runs" / "a", method=METHODS[0], iterations=40).write()
    page = built(tmp_path)
    run = page.blocks["run-0"]
    parents = {row["t"]: row["from"] for row in run["rows"]}
    bests = [row["t"] for row in run["rows"] if row["new_best"]]
    path = run["lineage"]
    assert (path[0], path[-1]) == (0, bests[-1])
    assert all(parents[child] == parent for parent, child in pairwise(path))
    flagged = {flag["t"] for flag in run["audit"]["flags"] if flag["flag"] != "documents_unused"}
    assert set(page.details(0)) == {*bests, *path, *flagged} - {0}
    assert len(page.details(0)) < 40
    assert page.index["detailed"] == len(page.details(0))
    assert page.index["iterations"] == 40


def test_no_details_means_no_texts(tmp_path: Path) -> None:
    RunFolder(tmp_path / "runs" / "a").write()
    page = built(tmp_path, details="none")
    assert list(page.blocks) == ["run-0"]
    assert page.blocks["run-0"]["best_program"] is None
    assert page.index["detailed"] == 0
    assert page.blocks["run-0"]["rows"][0]["chunk"] is None


def test_changes_are_those_between_parent_and_child(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "runs" / "a", iterations=20).write()
    page = built(tmp_path, details="all")
    trace = open_trace(folder)
    codes = {r["t"]: r["candidates"][0]["code_sha256"] for r in trace.iter_records() if r["child"]}
    row = next(row for row in page.blocks["run-0"]["rows"] if row["from"] and row["t"] in codes)
    before, after = trace.blob(codes[row["from"]]), trace.blob(codes[row["t"]])
    assert before is not None
    assert after is not None
    lines = page.details(0)[row["t"]]["change"]["diff"]
    added = {line[1:] for line in lines if line.startswith("+")}
    removed = {line[1:] for line in lines if line.startswith("-")}
    assert added
    assert added <= set(after.splitlines())
    assert removed <= set(before.splitlines())
    assert f'"""Program {row["t"]}."""' in added
    assert f'"""Program {row["from"]}."""' in removed


def test_missing_programs_are_said_to_be_missing(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "runs" / "a").write()
    for blob in (folder / "blobs").rglob("*"):
        if blob.is_file():
            blob.unlink()
    page = built(tmp_path, details="all")
    changes = [one["change"] for one in page.details(0).values() if "change" in one]
    assert changes
    assert all("not in the run folder" in one["why"] for one in changes)
    assert page.blocks["run-0"]["best_program"]["program"] is None


def test_long_programs_are_not_compared() -> None:
    long = "x = 1\n" * 5000
    told = change(long, long + "y = 2\n")
    assert "3,000 lines" in told["why"]
    assert told["text"]["chars"] == len(long) + 6
    assert change("a\n", "a\n") == {"why": "the programs are equal line by line"}
    assert "parent's" in change(None, "a\n")["why"]


def test_way_to_the_best_ends_where_a_parent_is_not_known() -> None:
    rows = [{"t": 1, "from": 0}, {"t": 2, "from": 1}, {"t": 3, "from": None}, {"t": 4, "from": 3}]
    assert lineage(rows, 2) == [0, 1, 2]
    assert lineage(rows, 4) == [3, 4]
    assert lineage(rows, 0) == [0]


def test_same_input_same_bytes_whatever_the_order(tmp_path: Path) -> None:
    write_study(tmp_path / "runs", runs=8, iterations=6)
    folders = sorted((tmp_path / "runs").iterdir())
    write_report([tmp_path / "runs"], tmp_path / "one.html")
    write_report([tmp_path / "runs"], tmp_path / "again.html")
    write_report(folders[::-1], tmp_path / "shuffled.html")
    contents = {(tmp_path / f"{n}.html").read_bytes() for n in ("one", "again", "shuffled")}
    assert len(contents) == 1
    assert str(tmp_path).encode() not in contents.pop()


def test_hostile_text_ends_no_element(tmp_path: Path) -> None:
    RunFolder(tmp_path / "runs" / "a", strings=HOSTILE, urls=HOSTILE_URLS,
              model="</script><img src=x onerror=pwned()>").write()  # fmt: skip
    RunFolder(tmp_path / "plain" / "a").write()
    hostile = built(tmp_path, details="all")
    tags = set(hostile.elements.tags)
    assert hostile.index["runs"][0]["model"] == "</script><img src=x onerror=pwned()>"
    plain = built(tmp_path, tmp_path / "plain", details="all")
    assert tags == set(plain.elements.tags)
    assert hostile.script == plain.script


def test_only_its_own_script_and_style_may_run(tmp_path: Path) -> None:
    RunFolder(tmp_path / "runs" / "a").write()
    page = built(tmp_path)
    (policy,) = [str(m["content"]) for m in page.elements.meta if m.get("http-equiv")]
    digest = base64.b64encode(hashlib.sha256(page.script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none';")
    assert f"script-src 'sha256-{digest}';" in policy
    assert "unsafe" not in policy
    attributes = re.findall(r"""(?:src|href|action)=["']([^"'{]*)""", page.text.split("<script")[0])
    assert set(attributes) == {"#main", "#/"}


def test_numbers_that_are_none_become_null() -> None:
    odd = {"a": float("nan"), "b": [float("inf"), 1.5], "c": "\ud800</script>", 4: None}
    assert json.loads(plain_json(odd)) == {"a": None, "b": [None, 1.5], "c": "\ud800</script>",
                                           "4": None}  # fmt: skip
    assert plain_json(odd).isascii()


def test_held_out_runs_have_ndg_where_it_was_asked_for(tmp_path: Path) -> None:
    made = RunFolder(tmp_path / "runs" / "a", task="ai_foundations/lr_bsz", held_out=True,
                     iterations=25)  # fmt: skip
    folder = made.write()
    rows = [row for _, row in read_rows(open_trace(folder))]
    assert [row["t"] for row in rows if row["ndg"] is not None] == [10, 20]
    scores = {row["t"]: row["best"] for row in rows}
    assert rows[9]["ndg"] == pytest.approx(100 * max(0.0, scores[10]))
    page = built(tmp_path)
    (run,) = page.index["runs"]
    assert run["held_out"] is True
    assert run["ndg"] is None  # the best after the last iteration was not evaluated
    assert [t for t, _ in run["steps"]] == [10, 20]
    assert page.index["tasks"][0]["held_out"] is True


def test_unknown_is_not_zero(tmp_path: Path) -> None:
    RunFolder(tmp_path / "runs" / "a", unpriced=True).write()
    RunFolder(tmp_path / "runs" / "b", variant="embedded", seed=2).write()
    RunFolder(tmp_path / "runs" / "c", status="running", done=4, seed=3).write()
    page = built(tmp_path)
    by_name = {run["name"]: run for run in page.index["runs"]}
    assert by_name["a"]["usd"] is None
    assert by_name["b"]["usd"] > 0
    assert (by_name["b"]["ndg"], by_name["b"]["steps"]) == (None, [])
    running = by_name["c"]
    assert (running["status"], running["complete"], running["done"]) == ("running", False, 4)
    assert running["ndg"] is not None
    assert running["usd"] == pytest.approx(
        sum(row["usd"] for row in page.blocks[f"run-{page.index['runs'].index(running)}"]["rows"])
    )


def test_records_from_elsewhere_may_lack_parents_and_usage(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "runs" / "a", iterations=5).write()
    records = [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]
    for record in records:
        record |= {"parent": {"id": None, "score": None, "iteration": None}, "candidates": [],
                   "attempts": None, "selected_slot": None, "usage": {}, "started": None,
                   "ended": None}  # fmt: skip
        if record["child"]:
            record["child"]["beats_parent"] = None
    (folder / "trace.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    event = json.loads((folder / "journal.jsonl").read_text())
    event["data"]["recorded"] = {"selected_steps": [1]}
    (folder / "journal.jsonl").write_text(json.dumps(event) + "\n")
    page = built(tmp_path, details="all")
    rows = page.blocks["run-0"]["rows"]
    assert {row["outcome"] for row in rows} <= {"unknown", "no_program"}
    assert {(row["from"], row["usd"], row["tokens"]) for row in rows} == {(None, None, None)}
    assert page.index["runs"][0]["usd"] is None


def test_audit_is_taken_from_its_file_while_it_fits(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "runs" / "a", iterations=20).write()
    computed = built(tmp_path).blocks["run-0"]["audit"]
    assert computed["source"] == "computed from trace and blobs"
    assert not (folder / "audit.json").exists()
    write_audit(open_trace(folder))
    stored = built(tmp_path).blocks["run-0"]["audit"]
    assert stored["source"] == "audit.json"
    assert stored["flags"] == computed["flags"]
    with (folder / "trace.jsonl").open("a") as file:
        file.write("\n{torn")
    lines = (folder / "trace.jsonl").read_text().splitlines()
    (folder / "trace.jsonl").write_text("\n".join(lines[:10]) + "\n")
    assert built(tmp_path).blocks["run-0"]["audit"]["source"] == "computed from trace and blobs"


def test_damaged_runs_are_named_and_left_out(tmp_path: Path) -> None:
    RunFolder(tmp_path / "runs" / "good").write()
    bad = RunFolder(tmp_path / "runs" / "bad", seed=2).write()
    lines = (bad / "trace.jsonl").read_text().splitlines()
    record = json.loads(lines[4])
    record["candidates"] = 7
    lines[4] = json.dumps(record)
    (bad / "trace.jsonl").write_text("\n".join(lines) + "\n")
    torn = RunFolder(tmp_path / "runs" / "torn", seed=3).write()
    text = (torn / "trace.jsonl").read_text()
    (torn / "trace.jsonl").write_text(text[:-40])
    (RunFolder(tmp_path / "runs" / "empty", seed=4).write() / "trace.jsonl").write_text("")
    page = built(tmp_path)
    assert sorted(run["name"] for run in page.index["runs"]) == ["good", "torn"]
    notes = page.index["notes"]
    assert any("line 5: iteration 5 cannot be read" in note for note in notes)
    assert any(note.startswith("torn: ") and "torn" in note[6:] for note in notes)
    assert any("the trace is empty" in note for note in notes)
    assert not any(str(tmp_path) in note for note in notes)


def test_nothing_to_read_is_said(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    with pytest.raises(DataProblem, match="no such folder"):
        write_report([tmp_path / "nowhere"], out)
    with pytest.raises(DataProblem, match="no runs there"):
        write_report([tmp_path], out)
    (RunFolder(tmp_path / "runs" / "a").write() / "trace.jsonl").write_text("[]\n")
    with pytest.raises(DataProblem, match=r"no run can be read: left out: .*line 1"):
        write_report([tmp_path / "runs"], out)
    assert not list(tmp_path.glob("*report*"))


def test_command(tmp_path: Path) -> None:
    RunFolder(tmp_path / "runs" / "a").write()
    out = tmp_path / "new" / "report.html"
    result = CliRunner().invoke(app, [str(tmp_path / "runs" / "a"), "--out", str(out), "--json"])
    assert result.exit_code == 0, result.exception
    told = json.loads(result.stdout)
    assert told["runs"] == 1
    assert told["bytes"] == out.stat().st_size
    assert Page(out).index["runs"][0]["name"] == "a"
    text = CliRunner().invoke(app, [str(tmp_path / "runs"), "--out", str(out)])
    assert "1 run, 12 iterations" in text.stdout.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--details", "most"], "use none, improving or all"),
        (["nowhere"], "no such folder"),
    ],
)
def test_command_refuses(arguments: list[str], message: str, tmp_path: Path) -> None:
    given = [*arguments, "--out", str(tmp_path / "report.html")]
    result = CliRunner().invoke(app, given)
    assert isinstance(result.exception, UsageProblem), result.exception
    assert message in str(result.exception)
    assert not (tmp_path / "report.html").exists()


def test_command_does_not_write_over_a_folder(tmp_path: Path) -> None:
    RunFolder(tmp_path / "runs" / "a").write()
    result = CliRunner().invoke(app, [str(tmp_path / "runs"), "--out", str(tmp_path)])
    assert isinstance(result.exception, UsageProblem)
    assert "is a folder" in str(result.exception)
