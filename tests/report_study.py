"""Studies made up for the report: run folders that follow the trace's schema, with their blobs.

Numbers are drawn from a seed, so the same study is the same bytes. ``hostile`` puts strings into
every place that comes from models or the web.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmark.catalogue import find_task
from benchmark.ndg import ndg

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
TASKS = ("mathematics/cp26", "mathematics/cp32", "mathematics/hadamard29", "mathematics/ac2",
         "algorithm_engineering/ahc039", "astrodynamics/rosetta")  # fmt: skip
METHODS = ("openevolve-native+none", "openevolve-native+evoduet", "openevolve-native+joint")
HOSTILE = (
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 2'>",
    "<!--<script>",
    "]]>\"'`${window.pwned = 3}",
    "\u202egnp.elifmoc\u202c \u0000\u001b[31m",
    "{{blocks}}",
)
HOSTILE_URLS = (
    "javascript:window.pwned=4",
    "data:text/html,<script>window.pwned=5</script>",
    "https://example.org/\"onmouseover='window.pwned=6'",
    "file:///etc/passwd",
    "not an address",
)


@dataclass
class RunFolder:
    """Writes one run; ``strings`` are put wherever text of models or of the web stands."""

    folder: Path
    task: str = TASKS[0]
    method: str = METHODS[1]
    model: str = "some-model"
    n: int = 4
    seed: int = 1
    iterations: int = 12
    done: int | None = None
    status: str = "finished"
    variant: str | None = None
    held_out: bool = False
    unpriced: bool = False
    strings: Sequence[str] = ()
    urls: Sequence[str] = ()
    drawn: random.Random = field(init=False)
    blobs: dict[str, str] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.drawn = random.Random(f"{self.task} {self.method} {self.seed}")

    def write(self) -> Path:
        """Manifest, trace, blobs, summary."""
        anchors = find_task(self.task).declared.anchors
        self._low, self._high = anchors.initial.value, anchors.sota.value
        self.folder.mkdir(parents=True)
        start = self._put(_program(0, [0.0]))
        config = {"task": self.task, "method": self.method, "candidates": self.n,
                  "seed": self.seed, "variant": self.variant, "iterations": self.iterations,
                  "gate": "knowledge", "rounds": 3, "queries": 1, "per_query": 5, "retain": 3,
                  "rules": "official", "edit": "diff", "search": "offline"}  # fmt: skip
        manifest = {"run_id": self.folder.name, "model": self.model, "config": config,
                    "x0": start, "held_out": self.held_out}  # fmt: skip
        event = {"seq": 0, "prev": "0" * 64, "time": "", "event": "run_started", "data": manifest}
        self._save("journal.jsonl", json.dumps(event) + "\n")
        records = self._records()
        self._save("trace.jsonl", "".join(json.dumps(r) + "\n" for r in records))
        for name, text in self.blobs.items():
            self._save(f"blobs/{name[:2]}/{name}", text)
        if self.status != "running":
            self._save("summary.json", json.dumps(self._summary(records)))
        return self.folder

    def _records(self) -> list[dict[str, Any]]:
        self._scores, self._codes = {0: 0.0}, {0: [0.0]}
        best, found = 0.0, []
        for t in range(1, (self.done or self.iterations) + 1):
            record = self._record(t, best)
            best = record["run_best_after"]
            found.append(record)
        return found

    def _record(self, t: int, best: float) -> dict[str, Any]:
        draw = self.drawn
        parents = sorted(self._scores, key=lambda k: self._scores[k])[-6:]
        origin = draw.choice(parents)
        parent = self._scores[origin]
        searches = self.method.endswith("evoduet")
        decision = draw.choice(("no-op", "look-up", "retrieve", "retrieve", "missing"))
        given = searches and decision in ("look-up", "retrieve")
        alive = draw.random() < 0.9
        score = parent + (0.25 if given else 0.2) * (0.9 - parent) * draw.uniform(-0.7, 0.6)
        documents = [self._document(t, i, parent) for i in range(3)] if given else []
        code = self._put(_program(t, [*self._codes[origin], score]))
        if alive:
            self._scores[t], self._codes[t] = score, [*self._codes[origin], score]
        child = {"id": f"p{t}", "search_score": score, "objective": self._objective(score),
                 "reporting": None, "beats_parent": score > parent, "admitted": True}  # fmt: skip
        after = max(best, score) if alive else best
        reports = self.held_out and t % 10 == 0
        gate = {"kind": "knowledge", "decision": decision, "raw_decision": decision,
                "malformed": decision == "missing", "executed": decision,
                "knowledge": self._text("What is known"), "reasoning": self._text("Because"),
                "requested_ids": [], "resolved_ids": ["doc_000001"] if given else [],
                "unresolved_ids": [], "flags": [], "would_have_parsed": None,
                "call_id": f"{t}:gate:0:0"}  # fmt: skip
        gate["executed"] = None if decision == "missing" else decision
        return {
            "schema": "evoduet.trace/1", "run_id": self.folder.name, "t": t,
            "started": (BEGIN + timedelta(minutes=t - 1)).isoformat(),
            "ended": (BEGIN + timedelta(minutes=t)).isoformat(),
            "parent": {"id": f"p{origin}", "score": parent, "iteration": origin},
            "context_ids": [f"p{k}" for k in parents], "label": self._text("island"),
            "run_best_before": best, "run_best_after": after, "new_best": alive and score > best,
            "gate": gate if searches else None,
            "population_analysis": {"text": self._text("Scores rise"), "stats_sha256": "0" * 64,
                                    "call_id": f"{t}:analysis:0:0"},
            "rounds": [self._round(t, r) for r in (1, 2)] if given else [],
            "documents": documents, "n_planned": self.n, "attempts": 1, "prompt_sha256": "0" * 64,
            "prompt_docs": [d["doc_id"] for d in documents],
            "candidates": [self._candidate(slot, code, score, alive) for slot in range(self.n)],
            "selected_slot": 0 if alive else None, "child": child if alive else None,
            "report": {"id": "best", "reporting": self._native(after)} if reports else None,
            "usage": {"by_purpose": {"gate": self._usage(400), "generation": self._usage(9000)}},
            "search_usage": {"requests": 2 if given else 0, "credits": 2.0 if given else None,
                             "cost_usd": 0.016 if given else None},
            "scaffold_events": [], "external_errors": [self._text("outage")] if t == 3 else [],
            "excluded": False, "flags": [], "prompt_version": None,
        }  # fmt: skip

    def _native(self, score: float) -> float:
        """The reporting metric: 0 is the initial program, 1 the best known."""
        return self._low + score * (self._high - self._low)

    def _objective(self, score: float) -> float | None:
        return None if self.held_out else self._native(score)

    def _round(self, t: int, r: int) -> dict[str, Any]:
        results = [{"doc_id": f"r{t}-{i}", "ref": f"evidence_{i}", "db_id": None,
                    "url": self._url(i), "host": "example.org", "rank": i + 1,
                    "is_new_in_run": i < 3, "is_new_in_iteration": True, "has_raw": True}
                   for i in range(5)]  # fmt: skip
        query = {"slot": 0, "text": self._text("densest packing of circles"), "keywords": ["a"],
                 "resources": [], "intent": self._text("find"), "rationale": self._text("as"),
                 "valid": True, "wire_text": self._text("densest"), "wire_truncated": False,
                 "executed": True, "duplicate_of": None, "error": None,
                 "call_id": f"{t}:query:0:0"}  # fmt: skip
        search = {"query_slot": 0, "status": "ok", "error": None, "results": results,
                  "credits": 1.0, "cost_usd": 0.008, "latency_s": 0.5, "blocked": 0}  # fmt: skip
        return {"r": r, "call_id": None, "attempt": None, "candidate_slot": None,
                "queries": [query], "searches": [search], "pool": [], "unscored": [],
                "predictions": {f"r{t}-{i}": 0.1 * i for i in range(5)},
                "rejected_predictions": [], "scoring_status": "scored",
                "retained": [{"doc_id": f"r{t}-{i}", "predicted": 0.1} for i in range(3)],
                "knowledge_after": self._text("Known by now")}  # fmt: skip

    def _document(self, t: int, i: int, parent: float) -> dict[str, Any]:
        page = self.drawn.randrange(12)
        body = self._text(f"Page {page}. ") + f"A paragraph about packings, number {page}. " * 60
        predicted = parent + self.drawn.uniform(-0.1, 0.15)
        return {"doc_id": f"r{t}-{i}", "ref": f"evidence_{i}", "db_id": f"doc_{page:06d}",
                "predicted": predicted, "predicted_at": t, "promising": predicted > parent,
                "body_sha256": self._put(body), "chars_in_prompt": 2000, "first_retrieved_t": t,
                "title": self._text(f"Page {page}"), "url": self._url(i),
                "host": "example.org"}  # fmt: skip

    def _candidate(self, slot: int, code: str, score: float, alive: bool) -> dict[str, Any]:
        fine = slot == 0 and alive
        verdict = {"status": "ok" if fine else "error", "search_score": score if fine else None,
                   "objective": self._objective(score) if fine else None,
                   "metrics": {self._text("sum"): score} if fine else {},
                   "feedback": self._text("3 contacts") if fine else "",
                   "reason": "" if fine else self._text("circles overlap"), "wall_s": 1.5,
                   "cpu_s": 1.2, "max_rss": 80.0, "reruns": 0}  # fmt: skip
        return {"attempt": 1, "slot": slot, "parse": "ok", "call_id": f"c{slot}", "flags": [],
                "blocks": ["applied"], "error": None if fine else self._text("circles overlap"),
                "code_sha256": code, "diff_summary": self._text("Change 1: moved a circle"),
                "lines_added": 2, "eval": verdict}  # fmt: skip

    def _usage(self, prompt: int) -> dict[str, Any]:
        return {"calls": 1, "prompt": prompt, "completion": prompt // 3, "reasoning": 0,
                "cached": 0, "cost_usd": None if self.unpriced else prompt * 1e-6,
                "unpriced_calls": int(self.unpriced)}  # fmt: skip

    def _summary(self, records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        top = next((r for r in reversed(records) if r["new_best"]), None)
        score = records[-1]["run_best_after"]
        objective = None if self.held_out and records[-1]["report"] is None else self._native(score)
        gain = ndg(objective, self._low, self._high) if objective is not None else None
        known = gain is not None and self.variant is None
        best = {"t": top["t"] if top else 0, "id": top["child"]["id"] if top else None,
                "search_score": score, "objective": None if self.held_out else objective,
                "reporting": objective, "ndg": gain.value if gain and known else None,
                "ndg_raw": gain.raw if gain and known else None}  # fmt: skip
        usage = (row for r in records for row in r["usage"]["by_purpose"].values())
        spent = sum(row["cost_usd"] or 0.0 for row in usage)
        spent += sum(r["search_usage"]["cost_usd"] or 0.0 for r in records)
        return {"run_id": self.folder.name, "task": self.task, "method": self.method,
                "model": self.model, "status": self.status, "T": self.iterations,
                "done": len(records), "ndg": best["ndg"], "best": best,
                "x0": {"search_score": 0.0, "objective": self._objective(0.0)},
                "usage": {}, "search_usage": {}, "cost_usd": None if self.unpriced else spent,
                "unpriced_calls": 2 * len(records) if self.unpriced else 0}  # fmt: skip

    def _text(self, usual: str) -> str:
        return f"{usual} {self.drawn.choice(self.strings)}" if self.strings else usual

    def _url(self, i: int) -> str:
        return self.urls[i % len(self.urls)] if self.urls else f"https://example.org/page/{i}"

    def _put(self, text: str) -> str:
        name = hashlib.sha256(text.encode()).hexdigest()
        self.blobs[name] = text
        return name

    def _save(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def _program(t: int, numbers: Sequence[float]) -> str:
    lines = [f"x{i} = {value!r}  # step {i}" for i, value in enumerate(numbers)]
    body = [f"def step_{i}(x):\n    return x * {i} + x{i % len(numbers)}\n" for i in range(12)]
    return "\n".join([f'"""Program {t}."""', *lines, *body])


def write_study(folder: Path, runs: int, iterations: int) -> None:
    """Runs over tasks, methods and models, some unfinished, unpriced or held out."""
    for number in range(runs):
        RunFolder(
            folder / f"run-{number:03d}",
            task=TASKS[number % len(TASKS)],
            method=METHODS[number // len(TASKS) % len(METHODS)],
            model=("Luna", "Gemini")[number // 18 % 2],
            n=8,
            seed=number,
            iterations=iterations,
            done=iterations // 2 if number % 40 == 39 else None,
            status="paused" if number % 40 == 39 else "finished",
            unpriced=number % 30 == 29,
        ).write()
