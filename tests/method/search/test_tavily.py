"""Tavily's client against a server that refuses and fails in every way it can."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import pytest
from stub_server import Reply, Script, Seen, Sleeps, StubServer, in_turn

from method.config import WebConfig
from method.llm.pricing import SearchPrice
from method.preflight import Check
from method.protocols import SearchResponse
from method.search.tavily import TavilySearch
from method.search.tavily_account import credits_left

KEY = "tvly-test-0123456789"
ENVIRON = {"TAVILY_API_KEY": KEY}


def hit(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "url": f"https://example.org/{number}",
        "title": f"Page {number}",
        "content": f"Text of page {number}.",
        "score": 0.9,
        "raw_content": None,
        **changes,
    }


def found(*hits: Any, **changes: Any) -> dict[str, Any]:
    return {"query": "q", "results": list(hits), "usage": {"credits": 2}, **changes}


def backend(server: StubServer, sleep: Sleeps, **options: Any) -> TavilySearch:
    special = {name: options.pop(name) for name in ("raw_content", "price") if name in options}
    environ = options.pop("environ", ENVIRON)
    given = WebConfig(api_base=server.address, **options)
    return TavilySearch(given, environ=environ, sleep=sleep, **special)


def search(
    script: Script, depth: str = "advanced", **options: Any
) -> tuple[SearchResponse, list[Seen], Sleeps]:
    sleeps = Sleeps()
    with StubServer(script) as server:
        client = backend(server, sleeps, **options)
        return asyncio.run(client.search("circle packing", 5, depth)), server.seen, sleeps


def test_the_request_is_the_papers() -> None:
    response, seen, _ = search(in_turn(Reply(found(hit(1)))))
    (request,) = seen
    assert request.path == "/search"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "query": "circle packing",
        "search_depth": "advanced",
        "topic": "general",
        "chunks_per_source": 3,
        "max_results": 5,
        "include_raw_content": False,
        "include_usage": True,
    }
    assert (response.error, response.credits, response.cost_usd) == (None, 2.0, None)


def test_raw_content_and_domains() -> None:
    options = {
        "raw_content": "text",
        "include_domains": ("arxiv.org",),
        "exclude_domains": ("example.com",),
    }
    _, seen, _ = search(in_turn(Reply(found())), **options)
    assert seen[0].body["include_raw_content"] == "text"
    assert seen[0].body["include_domains"] == ["arxiv.org"]
    assert seen[0].body["exclude_domains"] == ["example.com"]
    _, seen, _ = search(in_turn(Reply(found())), depth="basic", **options)
    assert seen[0].body["include_raw_content"] is False
    assert "chunks_per_source" not in seen[0].body


def test_results_are_checked_and_cut() -> None:
    rows = [
        hit(
            1, title="T" * 600, content="c" * 20_000, raw_content="r" * 300_000, url=" https://a.b "
        ),
        hit(2, url="ftp://example.org/2"),
        hit(3, content=" \n"),
        hit(4, content=None),
        "not a row",
        hit(6, url=None),
        hit(7, title=None, score="high", raw_content=""),
        hit(8, content=f"broken \ud800, {KEY}"),
    ]
    response, _, _ = search(in_turn(Reply(found(*rows))))
    first, seventh, eighth = response.results
    assert (first.url, first.provider_id, first.rank) == ("https://a.b", "https://a.b", 1)
    assert (len(first.title), len(first.snippet), len(first.raw or "")) == (500, 10_000, 10_000)
    assert (seventh.rank, seventh.title, seventh.score, seventh.raw) == (7, "", None, None)
    assert eighth.snippet == "broken \ufffd, [redacted]"


def test_costs_are_null_unless_a_price_is_known() -> None:
    price = SearchPrice(per_credit=0.008)
    response, _, _ = search(in_turn(Reply(found(hit(1)))), price=price)
    assert response.cost_usd == pytest.approx(0.016)
    response, _, _ = search(in_turn(Reply(found(hit(1), usage=None))), price=price)
    assert (response.credits, response.cost_usd) == (None, None)


def detail(message: str) -> dict[str, Any]:
    return {"detail": {"error": message}}


def test_too_fast_is_tried_again_after_the_pause_asked_for() -> None:
    busy = Reply(detail("slow down"), 429, {"Retry-After": "11"})
    response, seen, sleeps = search(in_turn(busy, Reply(found(hit(1)))))
    assert (response.error, len(response.results), len(seen)) == (None, 1, 2)
    assert 11 <= sleeps[0] <= 12


def test_a_limit_that_stays_pauses_the_run() -> None:
    response, seen, _ = search(in_turn(Reply(detail("usage limit"), 429)), retries=2)
    assert (response.error_kind, len(seen)) == ("quota", 3)
    response, seen, sleeps = search(in_turn(Reply(detail("x"), 429, {"Retry-After": "86400"})))
    assert (response.error_kind, len(seen), sleeps) == ("quota", 1, [])


REFUSALS = {
    400: "refused",
    401: "key",
    403: "key",
    404: "key",
    422: "refused",
    432: "quota",
    433: "quota",
}


@pytest.mark.parametrize("status", REFUSALS)
def test_refusals_are_final(status: int) -> None:
    response, seen, sleeps = search(in_turn(Reply(detail("no"), status)))
    assert (response.error_kind, response.results) == (REFUSALS[status], ())
    assert (len(seen), sleeps) == (1, [])
    assert response.error
    assert response.error.startswith(str(status))
    assert response.cost_usd == 0.0


FAULTS: Mapping[str, Reply] = {
    "500": Reply(detail("broken"), 500),
    "503": Reply(b"upstream", 503, content_type="text/plain"),
    "html instead of json": Reply(b"<html></html>", content_type="text/html"),
    "events instead of json": Reply(b"data: {}\n\n", content_type="text/event-stream"),
    "408": Reply(detail("late"), 408),
    "truncated json": Reply(b'{"results": [{"url": "htt'),
    "a list instead of an object": Reply([1]),
    "no results field of that kind": Reply({"results": None}),
    "dropped connection": Reply(fault="drop"),
    "dropped in the body": Reply(found(hit(1)), fault="drop_in_body"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_passing_faults_are_tried_again(fault: str) -> None:
    response, seen, sleeps = search(in_turn(FAULTS[fault], Reply(found(hit(1)))))
    assert (response.error, len(response.results), len(seen)) == (None, 1, 2)
    assert 0 <= sleeps[0] <= 1
    response, seen, _ = search(in_turn(FAULTS[fault]), retries=1)
    assert (response.error_kind, len(seen)) == ("transport", 2)
    assert response.cost_usd is None


def test_a_stall_ends_at_the_wall_clock() -> None:
    response, seen, _ = search(in_turn(Reply(fault="stall")), timeout_s=0.4, retries=0)
    assert (response.error, response.error_kind) == ("no answer within 0.4 s", "transport")
    assert len(seen) <= 1  # a busy machine may not have sent it in time


def test_never_keyless_by_accident() -> None:
    script = in_turn(Reply(found(hit(1))))
    response, seen, _ = search(script, environ={})
    assert (response.error_kind, seen) == ("key", [])
    assert "TAVILY_API_KEY" in (response.error or "")


def test_keyless_uses_no_key_that_lies_around(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    response, (seen,), _ = search(in_turn(Reply(found(hit(1)))), keyless=True)
    assert response.error is None
    assert "authorization" not in seen.headers
    assert seen.headers["x-tavily-access-mode"] == "keyless"
    limit = {"error": {"code": "rate_limit", "message": "come back", "retry_after_seconds": 4000}}
    response, _, _ = search(in_turn(Reply(limit, 429)), keyless=True)
    assert response.error_kind == "quota"


def test_at_most_so_many_at_once() -> None:
    async def many(client: TavilySearch) -> list[SearchResponse]:
        return await asyncio.gather(*(client.search(f"q{n}", 5, "basic") for n in range(6)))

    with StubServer(lambda seen: Reply(found(hit(seen.number)), delay_s=0.05)) as server:
        answers = asyncio.run(many(backend(server, Sleeps(), concurrency=2)))
    assert server.most_at_once == 2
    assert len({answer.results[0].url for answer in answers}) == 6


def test_keys_are_in_no_message_and_no_log(caplog: pytest.LogCaptureFixture) -> None:
    for name in ("httpx", "httpcore.http11", "httpcore.connection"):
        caplog.set_level(logging.DEBUG, logger=name)
    response, _, _ = search(in_turn(Reply(detail(f"the key {KEY} is not valid"), 401)))
    assert response.error == "401 the key [redacted] is not valid"
    assert any(
        record.name == "httpcore.http11" and "headers" in record.getMessage()
        for record in caplog.records
    )
    assert KEY not in caplog.text


# --- before the first search ----------------------------------------------------------------------


def check(reply: Reply, **options: Any) -> Check:
    with StubServer(in_turn(reply)) as server:
        return asyncio.run(backend(server, Sleeps(), **options).check())


def account(key: Mapping[str, Any], plan: Mapping[str, Any]) -> Reply:
    return Reply({"key": key, "account": plan})


PLAN = {"plan_usage": 900, "plan_limit": 1000, "paygo_usage": 0, "paygo_limit": None}


def test_check_reads_the_account() -> None:
    good = account({"usage": 10, "limit": 50}, PLAN)
    price = SearchPrice(per_search=0.01)
    assert check(good, price=price) == Check(notes=("40 search credits are left",))
    (problem,) = check(account({"usage": 50, "limit": 50}, PLAN)).problems
    assert problem.kind == "quota"
    (problem,) = check(Reply(detail("no"), 401)).problems
    assert problem.kind == "key"
    (problem,) = check(good, environ={}).problems
    assert (problem.kind, "TAVILY_API_KEY" in problem.text) == ("key", True)
    for unknown in (Reply(b"x"), Reply(detail("no"), 500), Reply(fault="drop")):
        found_out = check(unknown)
        assert found_out.problems == ()
        assert "quota is unknown" in found_out.notes[-1]
    assert "without a key" in check(good, keyless=True).notes[-1]


@pytest.mark.parametrize(
    ("usage", "left"),
    [
        ({"key": {"usage": 3, "limit": 10}, "account": None}, 7.0),
        ({"key": {"usage": 3, "limit": None}, "account": PLAN}, 100.0),
        ({"account": {**PLAN, "paygo_usage": 10, "paygo_limit": 50}}, 140.0),
        ({"key": {"usage": 3, "limit": 1000}, "account": PLAN}, 100.0),
        ({"key": {"usage": None, "limit": 5}}, 5.0),
        ({"key": {"usage": 3, "limit": None}}, None),
        ({"key": {"usage": "3", "limit": 5}}, None),
        ([], None),
        (None, None),
    ],
)
def test_credits_left(usage: Any, left: float | None) -> None:
    assert credits_left(usage) == left
