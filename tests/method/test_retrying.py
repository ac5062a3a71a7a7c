"""The retry layer: what it repeats, and how long it waits."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from stub_server import Sleeps

from method.retrying import LONGEST_BACKOFF_S, CallFailed, read_retry_after, with_retries


def attempt(failures: list[BaseException], retries: int) -> tuple[object, Sleeps]:
    sleeps = Sleeps()

    async def once() -> str:
        if failures:
            raise failures.pop(0)
        return "done"

    try:
        return asyncio.run(with_retries(once, retries, sleeps)), sleeps
    except Exception as error:
        return error, sleeps


def passing(retry_after: float | None = None) -> CallFailed:
    return CallFailed("busy", "transport", retry=True, retry_after=retry_after)


def test_the_number_of_attempts_is_told() -> None:
    assert attempt([], 3)[0] == ("done", 1)
    assert attempt([passing(), passing()], 3)[0] == ("done", 3)
    error, sleeps = attempt([passing() for _ in range(9)], 3)
    assert isinstance(error, CallFailed)
    assert (error.attempts, len(sleeps)) == (4, 3)
    assert attempt([passing()], 0)[1] == []


def test_what_is_final_is_not_repeated() -> None:
    error, sleeps = attempt([CallFailed("no", "refused")], 3)
    assert isinstance(error, CallFailed)
    assert (error.attempts, sleeps) == (1, [])
    error, _ = attempt([KeyError("a bug")], 3)
    assert isinstance(error, KeyError)


def test_pauses_grow_with_jitter_and_end_at_a_limit() -> None:
    runs = [attempt([passing() for _ in range(12)], 12)[1] for _ in range(20)]
    for sleeps in runs:
        limits = [min(LONGEST_BACKOFF_S, 2.0**n) for n in range(12)]
        assert all(0 <= pause <= limit for pause, limit in zip(sleeps, limits, strict=True))
    assert len({sleeps[-1] for sleeps in runs}) > 1
    assert max(max(sleeps) for sleeps in runs) > 10


def test_a_pause_asked_for_is_never_shortened() -> None:
    _, sleeps = attempt([passing(0), passing(5), passing(300)], 3)
    assert sleeps[0] == 0
    assert 5 <= sleeps[1] <= 5.5
    assert 300 <= sleeps[2] <= 301


def test_too_long_a_pause_is_a_matter_of_quota() -> None:
    error, sleeps = attempt([passing(301)], 3)
    assert isinstance(error, CallFailed)
    assert (error.kind, str(error), sleeps) == (
        "quota",
        "busy (the server asks to wait 301 s)",
        [],
    )


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, None),
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("", None),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("Mon, 30 Nov 2026 13:00:30 +0100", 30.0),
    ],
)
def test_retry_after(value: str | None, seconds: float | None) -> None:
    noon = datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert read_retry_after(value, lambda: noon) == seconds
