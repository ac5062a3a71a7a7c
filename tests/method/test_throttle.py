"""Slots of a provider and limits of a minute, with a clock that the test turns."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from method.throttle import Throttle


@dataclass
class Clock:
    """Time that passes only while somebody sleeps."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def send(throttle: Throttle, clock: Clock, requests: list[tuple[int, int | None]]) -> list[float]:
    """Send requests of (estimated, used) tokens one after the other; when each was sent."""

    async def sent() -> list[float]:
        times = []
        for estimate, used in requests:
            async with throttle.turn(estimate) as turn:
                times.append(clock.now)
                turn.used(used)
        return times

    return asyncio.run(sent())


def test_no_limits_no_waiting() -> None:
    clock = Clock()
    throttle = Throttle(2, clock=clock, sleep=clock.sleep)
    assert send(throttle, clock, [(10**9, None)] * 100) == [0.0] * 100


def test_requests_of_a_minute() -> None:
    clock = Clock()
    throttle = Throttle(5, requests_per_minute=3, clock=clock, sleep=clock.sleep)
    assert send(throttle, clock, [(0, 0)] * 8) == [0, 0, 0, 60, 60, 60, 120, 120]


def test_tokens_of_a_minute_count_as_used_not_as_estimated() -> None:
    clock = Clock()
    throttle = Throttle(5, tokens_per_minute=1000, clock=clock, sleep=clock.sleep)
    assert send(throttle, clock, [(900, 100), (900, 500), (400, 400), (400, None), (700, 1)]) == [
        *(0, 0, 0),
        *(60, 120),
    ]


def test_one_request_above_the_limit_is_sent_alone() -> None:
    clock = Clock()
    throttle = Throttle(5, tokens_per_minute=10, clock=clock, sleep=clock.sleep)
    assert send(throttle, clock, [(50, None), (5, None), (50, None)]) == [0, 60, 120]


def test_slots_are_per_throttle_and_survive_a_loop() -> None:
    throttle = Throttle(2)
    now = most = 0

    async def one() -> None:
        nonlocal now, most
        async with throttle.turn():
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.001)
            now -= 1

    async def many() -> None:
        await asyncio.gather(*(one() for _ in range(7)))

    for _ in range(2):
        asyncio.run(many())
    assert (most, now) == (2, 0)


def test_a_cancelled_request_gives_its_slot_back() -> None:
    throttle = Throttle(1)

    async def scenario() -> bool:
        async def hold() -> None:
            async with throttle.turn():
                await asyncio.sleep(60)

        held = asyncio.create_task(hold())
        await asyncio.sleep(0)
        held.cancel()
        await asyncio.gather(held, return_exceptions=True)
        async with asyncio.timeout(1), throttle.turn():
            return True

    assert asyncio.run(scenario())
