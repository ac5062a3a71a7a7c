"""What stops a run before it has paid for anything."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from fake_task import LocalModel, clients, config
from stub_server import Reply, StubServer, in_turn

from method.config import ConfigProblem, make_config
from method.connections import connect
from method.journal import read_journal
from method.ports import Paused
from method.preflight import Check, PreflightProblem, Problem, preflight
from method.runs import Clients, resume, run
from method.search.blocklist import Blocklist


class Checked(LocalModel):
    """A model with something to say about itself."""

    def __init__(self, check: Check) -> None:
        super().__init__()
        self.said = check

    async def check(self) -> Check:
        return self.said


def flight(*checks: Check, max_cost: float | None = None) -> tuple[str, ...]:
    return asyncio.run(preflight([object(), *(Checked(check) for check in checks)], max_cost))


def test_all_problems_are_told_at_once() -> None:
    key, quota = Problem("key", "no key"), Problem("quota", "no credits")
    with pytest.raises(PreflightProblem, match="no key; no credits") as waiting:
        flight(Check((key,)), Check((quota,)))
    assert waiting.value.waiting
    with pytest.raises(PreflightProblem) as wrong:
        flight(Check((key, Problem("config", "no such model"))))
    assert not wrong.value.waiting


def test_a_cost_limit_needs_a_price(caplog: pytest.LogCaptureFixture) -> None:
    unpriced = Check(priced=False)
    assert "unpriced" in flight(unpriced)[0]
    assert "the price of local-script is unknown" in caplog.text
    with pytest.raises(PreflightProblem, match="max_cost cannot be kept; give --prices"):
        flight(unpriced, max_cost=1.0)
    assert flight(Check(notes=("80 credits are left",)), max_cost=1.0) == ("80 credits are left",)


def test_a_run_that_cannot_start_leaves_nothing_behind(tmp_path: Path) -> None:
    broken = Checked(Check((Problem("key", "no key"),)))
    given = Clients(broken, clients().search, clients().evaluator)
    with pytest.raises(PreflightProblem, match="no key"):
        run(config(iterations=2), tmp_path / "run", clients=given)
    assert not (tmp_path / "run").exists()
    assert broken.calls == 0
    run(config(iterations=1), tmp_path / "run", clients=clients())
    with pytest.raises(Paused, match="no key"):  # a run that waits goes on waiting
        resume(tmp_path / "run", clients=given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cassette_mode": "replay"}, "^replay needs a recording: give --cassette FILE"),
        ({"client": {"api_base": "localhost:8000"}}, "client.api_base.*http"),
        ({"client": {"api_base": "https://me:secret@x.org/v1"}}, "keys go into the environment"),
        ({"web": {"api_base": "https://x.org/?key=secret"}}, "keys go into the environment"),
        ({"client": {"api_key": "sk-1"}}, "client.api_key: unknown key"),
        ({"client": {"params": "official"}}, "client.params"),
        ({"prices": "nowhere.toml"}, "nowhere.toml"),
        ({"model": "no-such-provider/x"}, "PROVIDER/NAME"),
        ({"search": "nowhere"}, "tavily, offline, none or a folder"),
    ],
)
def test_configurations_that_cannot_run(
    tmp_path: Path, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigProblem, match=message):
        run(config(iterations=1, **options), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_file_says_the_same_as_options(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(
        'task = "cp26"\nmodel = "openai/x"\nsearch = "tavily"\nblocklist = false\n'
        'prices = "paper-gateway"\n[client]\napi_base = "http://localhost:1/v1"\n'
        '[web]\nkeyless = true\ninclude_domains = ["arxiv.org"]\n'
    )
    options = {
        "task": "cp26",
        "model": "openai/x",
        "search": "tavily",
        "blocklist": False,
        "prices": "paper-gateway",
        "client": {"api_base": "http://localhost:1/v1"},
        "web": {"keyless": True, "include_domains": ("arxiv.org",)},
    }
    assert make_config(file) == make_config(None, **options)


def test_the_manifest_keeps_what_was_in_force(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(
        '[models."offline/perturb"]\ninput = 1\noutput = 2\n[search.offline]\nper_search = 3\n'
    )
    given = config(iterations=1, prices=str(prices))
    run(given, tmp_path / "run", clients=clients())
    prices.unlink()
    events = read_journal(tmp_path / "run")
    manifest = events[0].data
    assert manifest["blocklist"] == Blocklist.shipped().manifest()
    again = connect(given, events=events)
    assert again.manifest()["prices"] == manifest["prices"]
    assert again.prices.models["offline/perturb"].output == 2
    assert again.blocklist == Blocklist.shipped()
    off = connect(config(blocklist=False))
    assert off.manifest()["blocklist"] is None


def test_a_search_quota_that_is_used_up_stops_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-0123456789")
    spent = Reply({"key": {"usage": 10, "limit": 10}})
    with StubServer(in_turn(spent)) as server:
        given = config(iterations=1, search="tavily", web={"api_base": server.address})
        with pytest.raises(PreflightProblem, match="credits are used up"):
            run(given, tmp_path / "run")
    assert [seen.path for seen in server.seen] == ["/usage"]
    assert not (tmp_path / "run").exists()
