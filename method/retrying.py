"""The one retry layer of the clients: what is tried again, how often, and how long it waits."""

from __future__ import annotations

import asyncio
import email.utils
import math
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    from tenacity import RetryCallState

ErrorKind = Literal["transport", "refused", "quota", "key"]
"""``transport``: nothing was wrong with the request; ``refused``: the request was; ``quota`` and
``key``: no request will be answered before a person has mended quota, account or names."""

Sleep = Callable[[float], Awaitable[None]]
AnswerT = TypeVar("AnswerT")

LONGEST_WAIT_S = 300.0
"""A server that asks for a longer pause is out of quota: the run pauses instead of the call."""

LONGEST_BACKOFF_S = 60.0


class CallFailed(RuntimeError):
    """A call without an answer; ``retry``: the same request may succeed later.

    ``retry_after``: seconds that the server asked for. ``attempts`` is how often it was sent.
    """

    def __init__(
        self,
        message: str,
        kind: ErrorKind,
        *,
        retry: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.retry = retry
        self.retry_after = retry_after
        self.attempts = 1
        if retry and retry_after is not None and retry_after > LONGEST_WAIT_S:
            self.kind, self.retry = "quota", False
            self.args = (f"{message} (the server asks to wait {retry_after:.0f} s)",)


async def with_retries(
    attempt: Callable[[], Awaitable[AnswerT]], retries: int, sleep: Sleep = asyncio.sleep
) -> tuple[AnswerT, int]:
    """The answer of the first attempt that has one, and the number of attempts.

    Waits as long as the server asked for, else exponentially with jitter (at most 1, 2, 4, ... 60
    seconds). Raises the last :class:`CallFailed`.
    """
    import tenacity

    made = 0

    async def counted() -> AnswerT:
        nonlocal made
        made += 1
        return await attempt()

    retrying = tenacity.AsyncRetrying(
        stop=tenacity.stop_after_attempt(retries + 1),
        retry=tenacity.retry_if_exception(_worth_retrying),
        wait=_wait,
        sleep=sleep,
        reraise=True,
    )
    try:
        return await retrying(counted), made
    except CallFailed as failure:
        failure.attempts = made
        raise


def _worth_retrying(error: BaseException) -> bool:
    return isinstance(error, CallFailed) and error.retry


def _wait(state: RetryCallState) -> float:
    assert state.outcome is not None
    error = state.outcome.exception()
    if isinstance(error, CallFailed) and error.retry_after is not None:
        # Jitter on top: callers that were refused together do not come back together.
        return error.retry_after + random.uniform(0, min(1.0, 0.1 * error.retry_after))
    return random.uniform(0, min(LONGEST_BACKOFF_S, 2.0 ** (state.attempt_number - 1)))


def read_retry_after(
    value: str | None, now: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> float | None:
    """Seconds of a ``Retry-After`` header (a number or an HTTP date), ``None`` if unreadable."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = email.utils.parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = (
            date if date.tzinfo else date.replace(tzinfo=UTC)
        ).timestamp() - now().timestamp()
    return max(0.0, seconds) if math.isfinite(seconds) else None
