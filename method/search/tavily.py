"""Web search with Tavily, as the paper's runs searched.

A failed search is a response with an error, never an empty result: a refused query costs its
attempt, an exhausted quota or a wrong key pauses the run. Query texts are sent as they come; rules
cut them for the wire before (``query.wire``).
"""

from __future__ import annotations

import asyncio
import importlib
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Any, Literal

from method.config import ConfigProblem, MissingProblem, WebConfig
from method.llm.pricing import SearchPrice
from method.preflight import Check
from method.protocols import SearchResponse
from method.retrying import CallFailed, Sleep, read_retry_after, with_retries
from method.search.tavily_account import check_account
from method.search.tavily_results import read_credits, read_results
from method.secrets import Secrets, guard_logs
from method.throttle import Throttle

KEY_VARIABLE = "TAVILY_API_KEY"
ADDRESS = "https://api.tavily.com"
CHUNKS_PER_SOURCE = 3
MESSAGE_LIMIT = 500

_PLAN_USED_UP = (432, 433)
RawContent = Literal["off", "text", "markdown"]


def load_tavily() -> tuple[Any, Any]:
    """The client library and its HTTP library. Raises :class:`MissingProblem` without the extra."""
    try:
        return importlib.import_module("tavily"), importlib.import_module("httpx")
    except ImportError as error:
        raise MissingProblem(
            f"--search tavily needs tavily-python ({error}); pip install 'evoduet[tavily]'"
        ) from None


class TavilySearch:
    """Tavily behind the search protocol.

    Args:
        options: key or keyless, domains, retries, limits.
        raw_content: whether page texts are asked for; only searches of depth ``advanced`` do.
        price: dollars per search or credit; without it the cost of a search is ``None``.
    """

    name = "tavily"

    def __init__(
        self,
        options: WebConfig,
        *,
        raw_content: RawContent = "off",
        price: SearchPrice | None = None,
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._options = options
        self._address = options.api_base or ADDRESS
        self._raw_content = raw_content
        self._price = price
        self._key = None if options.keyless else environ.get(KEY_VARIABLE, "").strip() or None
        self._secrets = Secrets.of_environment(environ, [KEY_VARIABLE])
        self._clock = clock
        self._sleep = sleep
        self._throttle = Throttle(
            options.concurrency, options.requests_per_minute, None, clock, sleep
        )
        guard_logs(self._secrets)

    async def search(self, query: str, max_results: int, depth: str) -> SearchResponse:
        started = self._clock()
        try:
            answer, _ = await with_retries(
                lambda: self._attempt(query, max_results, depth), self._options.retries, self._sleep
            )
        except CallFailed as failure:
            return SearchResponse(
                # A refused search costs nothing; an answer that was lost may have cost something.
                cost_usd=None if failure.kind == "transport" else 0.0,
                latency_s=self._clock() - started,
                error=str(failure),
                error_kind=failure.kind,
            )
        credits = read_credits(answer)
        return SearchResponse(
            results=read_results(answer, self._secrets),
            credits=credits,
            cost_usd=None if self._price is None else self._price.cost(credits),
            latency_s=self._clock() - started,
        )

    def manifest(self) -> dict[str, Any]:
        """Version of the library and the parameters of a search by the inner loop."""
        parameters = self._parameters(0, "advanced")
        del parameters["max_results"]
        return {"tavily-python": metadata.version("tavily-python"), "parameters": parameters}

    async def check(self) -> Check:
        """Library, key, quota and price, without a search."""
        _, httpx = load_tavily()
        notes: tuple[str, ...] = ()
        if self._price is None:
            notes = ("the price of a search is unknown: searches are counted as unpriced",)
        if self._options.keyless:
            return Check(notes=(*notes, "searching without a key: its limits are unknown"))
        return await check_account(httpx, self._address, self._key, KEY_VARIABLE, notes)

    async def _attempt(self, query: str, max_results: int, depth: str) -> dict[str, Any]:
        if self._key is None and not self._options.keyless:
            raise CallFailed(f"there is no key: set {KEY_VARIABLE}", "key")
        seen = _LastResponse()
        async with self._throttle.turn():
            try:
                # The library's own timeout is one of silence; this one is a wall clock.
                async with asyncio.timeout(self._options.timeout_s), self._client(seen) as client:
                    answer = await client.search(query, **self._parameters(max_results, depth))
            except ConfigProblem:
                raise
            except Exception as error:
                raise self._failure(error, seen) from None
        if not isinstance(answer, dict) or not isinstance(answer.get("results"), list):
            raise CallFailed("the response is not a search result", "transport", retry=True)
        return answer

    @asynccontextmanager
    async def _client(self, seen: _LastResponse) -> AsyncIterator[Any]:
        """A client for one request: nothing is left open when an event loop ends."""
        tavily, httpx = load_tavily()
        if self._key is None:  # an empty key keeps the library from looking for one itself
            async with tavily.AsyncTavilyClient(api_key="", api_base_url=self._address) as client:
                yield client
            return
        async with httpx.AsyncClient(event_hooks={"response": [seen.note]}) as connection:
            yield tavily.AsyncTavilyClient(
                api_key=self._key, api_base_url=self._address, client=connection
            )

    def _parameters(self, max_results: int, depth: str) -> dict[str, Any]:
        parameters: dict[str, Any] = {
            "search_depth": depth,
            "topic": "general",
            "max_results": max_results,
            "include_raw_content": False,
            "include_usage": True,
            "timeout": self._options.timeout_s,
            "include_domains": list(self._options.include_domains) or None,
            "exclude_domains": list(self._options.exclude_domains) or None,
        }
        if depth == "advanced":
            parameters["chunks_per_source"] = CHUNKS_PER_SOURCE
            if self._raw_content != "off":
                parameters["include_raw_content"] = self._raw_content
        return parameters

    def _failure(self, error: Exception, seen: _LastResponse) -> CallFailed:
        """What an exception of the library stands for; it raises one class for several statuses."""
        errors = importlib.import_module("tavily.errors")
        words = " ".join(str(error).split()) or type(error).__name__
        message = self._secrets.clean_message(f"{seen.status or ''} {words}".strip())
        message = message[:MESSAGE_LIMIT]
        pause = getattr(error, "retry_after_seconds", None) or seen.retry_after
        if isinstance(error, TimeoutError | errors.TimeoutError):
            text = f"no answer within {self._options.timeout_s:g} s"
            return CallFailed(text, "transport", retry=True)
        if isinstance(error, errors.UsageLimitExceededError):  # too fast, or used up: wait and see
            return CallFailed(message, "quota", retry=True, retry_after=pause)
        if isinstance(error, errors.ForbiddenError):
            return CallFailed(message, "quota" if seen.status in _PLAN_USED_UP else "key")
        if isinstance(error, errors.InvalidAPIKeyError | errors.MissingAPIKeyError):
            return CallFailed(message, "key")
        if isinstance(error, errors.BadRequestError):
            return CallFailed(message, "refused")
        # No status: the connection broke; 200: the body was not JSON.
        if seen.status in (None, 200, 408, 409) or seen.status >= 500:
            return CallFailed(message, "transport", retry=True, retry_after=pause)
        return CallFailed(message, "key" if seen.status == 404 else "refused")


class _LastResponse:
    """Status and ``Retry-After`` of a response, which the library's exceptions do not carry."""

    status: int | None = None
    retry_after: float | None = None

    async def note(self, response: Any) -> None:
        self.status = response.status_code
        self.retry_after = read_retry_after(response.headers.get("retry-after"))
