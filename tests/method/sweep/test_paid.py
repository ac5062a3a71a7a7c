"""A sweep that pays, over HTTP: what the runs cost is counted, and the cap holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stub_server import Reply, Seen, StubServer, chat
from sweep_cases import states, sweep, toy, write_plan

from method.executors.jobs import Resources
from method.executors.local import LocalExecutor
from method.journal import read_journal
from method.sweep.status import status

pytest.importorskip("litellm", reason="models of providers need litellm")

CALL_USD = 0.01
ANSWER = "A vector.\n```python\ndef run_code():\n    return [0.5, {}]\n```\n"


@pytest.mark.slow
def test_the_cap_of_a_sweep_holds_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_API_KEY", "sk-sweep-0123456789")
    prices = tmp_path / "prices.toml"
    prices.write_text('[models."openai/local"]\ninput = 0\noutput = 1000\n')

    def speak(seen: Seen) -> Reply:
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        return Reply(chat(ANSWER.format(seen.number % 100 / 100), usage=usage))

    with StubServer(speak) as server:
        plan = write_plan(
            tmp_path,
            f"""
[defaults]
task = "{toy(tmp_path)}"
model = "openai/local"
method = "none"
edit = "full"
candidates = 2
iterations = 6
max_attempts = 1
prices = "{prices}"
client = {{ api_base = "{server.address}/v1", api_key_env = "GATEWAY_API_KEY" }}
[grid]
seed = [1, 2, 3]
""",
        )
        whole = 3 * 6 * 2 * CALL_USD
        cap = 0.6 * whole
        executor = LocalExecutor(Resources(2, 16_000))
        _, projection = sweep(plan, tmp_path / "out", executor, max_cost=cap)
        paid = len(server.seen) * CALL_USD
        told = status(tmp_path / "out")
        assert projection.spent_usd == pytest.approx(paid)
        assert told["cost_usd"] == pytest.approx(paid)
        # A run finishes the iteration that passes its own cap, and the one in which it looks.
        assert 0.5 * cap < paid <= cap + 3 * 2 * (2 * CALL_USD)
        assert paid < whole
        assert set(states(projection).values()) <= {"budget", "held"}
        for job in projection.plan:
            manifest = read_journal(tmp_path / "out" / job.id)[0].data["config"]
            assert 0 < manifest["max_cost"] <= cap
        again = len(server.seen)
        sweep(plan, tmp_path / "out", LocalExecutor(Resources(2, 16_000)), max_cost=cap)
        assert len(server.seen) == again, "nothing is paid twice"
    assert "sk-sweep" not in (tmp_path / "out" / "sweep.jsonl").read_text()
    json.dumps(told, allow_nan=False)
