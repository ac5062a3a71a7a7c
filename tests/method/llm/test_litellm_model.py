"""The model client against a server that fails in every way an HTTP server can."""

from __future__ import annotations

import asyncio
import email.utils
import logging
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from stub_server import Reply, Script, Seen, Sleeps, StubServer, chat, failure, in_turn

from method.config import ClientConfig
from method.llm.library import load_litellm
from method.llm.litellm_model import LiteLLMModel
from method.llm.pricing import ModelPrice
from method.protocols import Completion, Request, Sampling, Usage

KEY = "sk-test-0123456789abcdef"
ENVIRON = {"GATEWAY_KEY": KEY}
MESSAGES = ({"role": "user", "content": "Think of a number."},)


def model(address: str, sleep: Sleeps | None = None, **options: Any) -> LiteLLMModel:
    price, name = options.pop("price", None), options.pop("name", "openai/local-model")
    sleep = Sleeps() if sleep is None else sleep
    given = ClientConfig(api_base=f"{address}/v1", api_key_env="GATEWAY_KEY", **options)
    return LiteLLMModel(name, given, sampling=Sampling(), price=price, environ=ENVIRON, sleep=sleep)


def ask(client: LiteLLMModel, **request: Any) -> list[Completion]:
    async def asked() -> list[Completion]:
        try:
            return await client.sample(Request("generation", MESSAGES, **request))
        finally:
            await client.aclose()

    return asyncio.run(asked())


def one(script: Script, **options: Any) -> tuple[Completion, StubServer, Sleeps]:
    sleeps = Sleeps()
    with StubServer(script) as server:
        (answer,) = ask(model(server.address, sleeps, **options))
    return answer, server, sleeps


def test_an_answer_is_read_whole() -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 500,
        "total_tokens": 1500,
        "prompt_tokens_details": {"cached_tokens": 400},
        "completion_tokens_details": {"reasoning_tokens": 300},
    }
    answer, server, sleeps = one(in_turn(Reply(chat("seven", usage=usage))))
    assert (answer.text, answer.finish_reason, answer.error) == ("seven", "stop", None)
    assert answer.usage == Usage(prompt=1000, completion=500, reasoning=300, cached=400)
    assert (answer.provider_model, answer.request_id) == ("served-model", "answer-1")
    assert (answer.attempts, sleeps) == (1, [])
    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.body["messages"] == list(MESSAGES)
    assert seen.body["model"] == "local-model"
    assert answer.effective_params == {
        "max_tokens": 32768, "reasoning_effort": "medium", "temperature": 0.7, "top_p": 0.95
    }  # fmt: skip
    assert {name: seen.body[name] for name in answer.effective_params} == answer.effective_params
    assert answer.dropped_params == ()


def test_samples_are_separate_requests_in_slot_order() -> None:
    def script(seen: Seen) -> Reply:  # the first request is answered last
        return Reply(chat(f"answer {seen.number}"), delay_s=0.25 - 0.05 * seen.number)

    with StubServer(script) as server:
        client = model(server.address, concurrency=2)
        answers = ask(client, slots=(0, 1, 2, 3, 4))
    assert len(server.seen) == 5
    assert all("n" not in seen.body for seen in server.seen)
    assert len({answer.text for answer in answers}) == 5
    assert server.most_at_once == 2


def test_one_failing_sample_does_not_touch_the_others() -> None:
    def script(seen: Seen) -> Reply:
        return Reply(failure("no"), 400) if seen.number == 1 else Reply(chat())

    with StubServer(script) as server:
        answers = ask(model(server.address, concurrency=1), slots=(0, 1, 2))
    assert [answer.error_kind for answer in answers] == [None, "refused", None]


# --- what is tried again --------------------------------------------------------------------------


def test_retry_after_is_honoured() -> None:
    busy = Reply(failure("slow down"), 429, {"Retry-After": "7"})
    answer, server, sleeps = one(in_turn(busy, Reply(chat("now"))))
    assert (answer.text, answer.attempts, len(server.seen)) == ("now", 2, 2)
    assert len(sleeps) == 1
    assert 7 <= sleeps[0] <= 8


def test_retry_after_may_be_a_date() -> None:
    date = email.utils.format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    busy = Reply(failure("maintenance"), 503, {"Retry-After": date})
    answer, _, sleeps = one(in_turn(busy, Reply(chat())))
    assert answer.error is None
    assert 60 < sleeps[0] <= 91


def test_google_writes_its_delay_into_the_body() -> None:
    body = failure("You exceeded your current quota", details=[{"retryDelay": "31.5s"}])
    answer, _, sleeps = one(in_turn(Reply(body, 429), Reply(chat())))
    assert answer.error is None
    assert 31.5 <= sleeps[0] <= 32.5


def test_a_long_pause_is_the_runs_to_make() -> None:
    busy = Reply(failure("slow down"), 429, {"Retry-After": "3600"})
    answer, server, sleeps = one(in_turn(busy))
    assert (answer.error_kind, len(server.seen), sleeps) == ("quota", 1, [])
    assert "3600 s" in (answer.error or "")


FAULTS: Mapping[str, Reply] = {
    "408": Reply(failure("late"), 408),
    "409": Reply(failure("conflict"), 409),
    "429": Reply(failure("slow down"), 429),
    "500": Reply(failure("broken"), 500),
    "503": Reply(failure("overloaded"), 503),
    "529": Reply(failure("overloaded"), 529),
    "html instead of json": Reply(b"<html>Log in</html>", content_type="text/html"),
    "events instead of json": Reply(b'data: {"id": "x"}\n\n', content_type="text/event-stream"),
    "truncated json": Reply(b'{"id": "x", "choices": [{"index": 0, "mess'),
    "no choices": Reply(chat(choices=[])),
    "dropped connection": Reply(fault="drop"),
    "dropped in the body": Reply(chat("long " * 1000), fault="drop_in_body"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_passing_faults_are_tried_again_with_growing_jittered_pauses(fault: str) -> None:
    answer, server, sleeps = one(in_turn(*[FAULTS[fault]] * 2, Reply(chat("at last"))))
    assert (answer.text, answer.error, answer.attempts) == ("at last", None, 3)
    assert len(server.seen) == 3
    assert all(0 <= pause <= limit for pause, limit in zip(sleeps, (1, 2), strict=True))
    answer, server, _ = one(in_turn(FAULTS[fault]), retries=1)
    assert (answer.error_kind, answer.attempts, len(server.seen)) == ("transport", 2, 2)
    assert answer.cost_usd is None  # a lost answer may have been paid for


ROUTES = (
    "hosted_vllm/local-model",
    "openrouter/qwen/qwen3.5-9b",
    "anthropic/claude-sonnet-4-5",
    "gemini/gemini-3.8-flash",
)
"""litellm speaks to these in other ways than to ``openai/``."""


@pytest.mark.parametrize("route", ROUTES)
def test_other_routes_fail_alike(route: str) -> None:
    for fault, reply in FAULTS.items():
        if fault == "no choices":  # a body of another protocol
            continue
        answer, server, _ = one(in_turn(reply), name=route, retries=1)
        assert (answer.error_kind, len(server.seen)) == ("transport", 2), fault
    for case, (status, body, kind) in REFUSALS.items():
        answer, server, _ = one(in_turn(Reply(body, status)), name=route)
        assert (answer.error_kind, len(server.seen)) == (kind, 1), case
        assert KEY not in (answer.error or "")
    busy = Reply(failure("slow down"), 429, {"Retry-After": "7"})
    _, _, sleeps = one(in_turn(busy), name=route, retries=1)
    assert 7 <= sleeps[0] <= 8


@pytest.mark.parametrize("route", ROUTES[:2])
def test_other_routes_report_costs(route: str) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500, "cost": 0.25}
    answer, server, _ = one(in_turn(Reply(chat(usage=usage))), name=route)
    assert (answer.text, answer.cost_usd, answer.cost_source) == ("hello", 0.25, "provider")
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_stall_ends_at_the_wall_clock() -> None:
    started = time.monotonic()
    answer, _, _ = one(in_turn(Reply(fault="stall")), timeout_s=0.7, retries=1)
    assert time.monotonic() - started < 20
    assert (answer.error, answer.error_kind) == ("no answer within 0.7 s", "transport")
    assert answer.attempts == 2
    answer, _, _ = one(in_turn(Reply(fault="stall"), Reply(chat("awake"))), timeout_s=0.7)
    assert (answer.text, answer.attempts) == ("awake", 2)


REFUSALS = {
    "a bad request": (400, failure("temperature must be one"), "refused"),
    "too long": (
        400,
        failure("maximum context length is 10 tokens", code="context_length_exceeded"),
        "refused",
    ),
    "unprocessable": (422, failure("unknown field"), "refused"),
    "a wrong key": (401, failure("Incorrect API key provided"), "key"),
    "no access": (403, failure("Your account may not use this model"), "key"),
    "flagged": (403, failure("input was flagged by moderation"), "refused"),
    "a wrong model": (404, failure("The model does not exist"), "key"),
    "out of credits": (402, failure("Insufficient credits"), "quota"),
    "out of quota": (429, failure("You exceeded it", code="insufficient_quota"), "quota"),
    "a daily limit": (429, failure("limit: GenerateRequestsPerDayPerProject"), "quota"),
    "an empty account": (400, failure("Your credit balance is too low"), "quota"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals_are_final(case: str) -> None:
    status, body, kind = REFUSALS[case]
    answer, server, sleeps = one(in_turn(Reply(body, status)))
    assert (answer.error_kind, answer.attempts, len(server.seen)) == (kind, 1, 1)
    assert sleeps == []
    assert body["error"]["message"] in (answer.error or "")
    assert answer.cost_usd == 0.0
    assert answer.text == ""


# --- usage and cost -------------------------------------------------------------------------------


def test_unknown_cost_and_usage_are_null_not_zero() -> None:
    answer, _, _ = one(in_turn(Reply(chat())))
    assert (answer.cost_usd, answer.cost_source) == (None, "none")
    silent = chat()
    del silent["usage"]
    answer, _, _ = one(in_turn(Reply(silent)), price=ModelPrice(input=1, output=1))
    assert answer.usage == Usage()
    assert (answer.cost_usd, answer.cost_source) == (None, "none")


def test_the_providers_figure_wins_over_the_price_file() -> None:
    price = ModelPrice(input=2, output=4)
    answer, _, _ = one(in_turn(Reply(chat())), price=price)
    assert (answer.cost_usd, answer.cost_source) == (pytest.approx(0.004), "table")
    usage = {"prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500, "cost": 0.25}
    answer, _, _ = one(in_turn(Reply(chat(usage=usage))), price=price)
    assert (answer.cost_usd, answer.cost_source) == (0.25, "provider")


def test_another_server_has_other_prices_than_the_table() -> None:
    answer, _, _ = one(in_turn(Reply(chat())), name="openai/gpt-5.6-luna")
    assert answer.cost_usd is None


# --- requests -------------------------------------------------------------------------------------


def test_tools_and_tool_calls() -> None:
    tool = {"type": "function", "function": {"name": "tavily", "parameters": {"type": "object"}}}
    call = {"id": "c1", "type": "function", "function": {"name": "tavily", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    with StubServer(in_turn(Reply(chat(choices=[choice])))) as server:
        (answer,) = ask(model(server.address), tools=(tool,), tool_choice="required")
    assert [dict(found) for found in answer.tool_calls] == [call]
    assert (answer.text, answer.finish_reason) == ("", "tool_calls")
    assert server.seen[0].body["tools"] == [tool]
    assert server.seen[0].body["tool_choice"] == "required"


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "object"}, "json_object"),
        ({"type": "object", "title": "Gate answer", "properties": {}}, "json_schema"),
    ],
)
def test_json_modes(schema: Mapping[str, Any], kind: str) -> None:
    with StubServer(in_turn(Reply(chat("{}")))) as server:
        (answer,) = ask(model(server.address), response_schema=schema)
    sent = server.seen[0].body["response_format"]
    assert sent["type"] == kind
    assert answer.effective_params["response_format"] == kind
    if kind == "json_schema":
        assert sent["json_schema"]["schema"] == schema
        assert re.fullmatch(r"[\w-]+", sent["json_schema"]["name"])


def test_a_key_goes_only_where_it_is_meant_to_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-meant-for-openai-alone")
    with StubServer(in_turn(Reply(chat()))) as server:
        client = LiteLLMModel(
            "openai/local-model",
            ClientConfig(api_base=f"{server.address}/v1"),
            sampling=Sampling(),
        )
        (answer,) = ask(client)
    assert answer.error is None
    assert "meant-for-openai" not in str(server.seen[0].headers)


def test_keys_are_in_no_message_and_no_log(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    load_litellm()
    for name in ("LiteLLM", "httpx", "openai._base_client"):
        caplog.set_level(logging.DEBUG, logger=name)
    echo = Reply(failure(f"Incorrect API key provided: {KEY}. See also sk-other0987654321"), 401)
    refused, _, _ = one(in_turn(echo))
    assert refused.error_kind == "key"
    assert "Incorrect API key provided: [redacted]" in (refused.error or "")
    assert "sk-other" not in (refused.error or "")
    answer, _, _ = one(in_turn(Reply(chat(f"your key is {KEY}"))))
    assert answer.text == "your key is [redacted]"
    assert {record.name for record in caplog.records} >= {"LiteLLM", "httpx"}
    assert KEY not in caplog.text
    assert KEY not in "".join(capsys.readouterr())


@pytest.mark.parametrize("loops", [2])
def test_a_client_survives_its_event_loop(loops: int) -> None:
    with StubServer(in_turn(Reply(chat()))) as server:
        client = model(server.address, concurrency=1)
        for _ in range(loops):
            assert [a.error for a in ask(client, slots=(0, 1, 2))] == [None] * 3


def check(name: str, environ: Mapping[str, str], **options: Any) -> Any:
    client = LiteLLMModel(name, ClientConfig(**options), sampling=Sampling(), environ=environ)
    return asyncio.run(client.check())


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("no_keys")
def test_check_finds_what_would_fail_later(monkeypatch: pytest.MonkeyPatch) -> None:
    (problem,) = check("no-such-provider/model", {}).problems
    assert problem.kind == "config"
    assert "PROVIDER/NAME" in problem.text
    (problem,) = check("gpt-5.6-luna", {}).problems
    assert (problem.kind, "OPENAI_API_KEY" in problem.text) == ("key", True)
    (problem,) = check("openai/x", {}, api_base="http://localhost:1/v1", api_key_env="K").problems
    assert problem.text.endswith("lacks K")
    found = check("openai/x", {}, api_base="http://localhost:1/v1")
    assert (found.problems, found.priced) == ((), False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    found = check("gpt-5.6-luna", {})
    assert (found.problems, found.priced) == ((), True)
    assert found.notes == ("gpt-5.6-luna does not take temperature, top_p: not sent",)


@pytest.mark.usefixtures("no_keys")
def test_what_was_resolved_at_the_start_stays_in_force() -> None:
    fresh = LiteLLMModel("gpt-5.6-luna", ClientConfig(), sampling=Sampling())
    said = fresh.manifest()
    assert said["effective"] == {"max_tokens": 32768, "reasoning_effort": "medium"}
    assert said["dropped"] == ["temperature", "top_p"]
    assert said["table"]["prices"]["input_cost_per_token"] == 2e-07
    frozen = {**said, "effective": {"temperature": 0.7}, "dropped": ["top_p"], "table": None}
    resumed = LiteLLMModel("gpt-5.6-luna", ClientConfig(), sampling=Sampling(), frozen=frozen)
    assert resumed.effective(Request("gate", MESSAGES, Sampling())) == {"temperature": 0.7}
    assert resumed.manifest()["table"] is None
