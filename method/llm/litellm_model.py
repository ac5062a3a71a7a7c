"""Models of all providers through litellm: parallel samples, one retry layer, a hard wall clock.

litellm itself does not retry, does not drop parameters and does not fetch prices here.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import metadata
from typing import Any

from method.config import ClientConfig, ConfigProblem
from method.llm.answers import Answer, read_answer
from method.llm.cost import CallCosts
from method.llm.faults import as_failure
from method.llm.library import load_litellm
from method.llm.pricing import ModelPrice
from method.llm.sampling import (
    Resolved,
    released_parameters,
    requested,
    response_format,
    supported_parameters,
)
from method.preflight import Check, Problem
from method.protocols import Completion, Request, Sampling
from method.retrying import CallFailed, Sleep, with_retries
from method.secrets import Secrets, guard_logs
from method.throttle import Throttle

_CHARACTERS_PER_TOKEN = 4
_NEEDS_NO_KEY = ("ollama", "ollama_chat")


class LiteLLMModel:
    """One model of one provider, ``PROVIDER/NAME`` as litellm writes it.

    Args:
        name: for example ``gpt-5.6-luna``, ``openrouter/qwen/qwen3.5-9b`` or, for a server of your
            own, ``openai/NAME`` with ``options.api_base``.
        options: address, parameters, retries, limits.
        price: dollars per million tokens, used where the provider does not report a cost; without
            it litellm's table is used, and a model that the table does not know costs ``None``.
        sampling: the parameters that are resolved beforehand and written into the manifest.
        frozen: :meth:`manifest` of the run that goes on; what was resolved then stays in force.
    """

    def __init__(
        self,
        name: str,
        options: ClientConfig,
        *,
        price: ModelPrice | None = None,
        sampling: Sampling,
        frozen: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.name = name
        self._options = options
        self._price = price
        self._sampling = sampling
        self._frozen = frozen
        self._environ = environ
        self._secrets = Secrets.of_environment(environ, [options.api_key_env])
        self._clock = clock
        self._sleep = sleep
        self._throttle = Throttle(
            options.concurrency,
            options.requests_per_minute,
            options.tokens_per_minute,
            clock,
            sleep,
        )
        self._resolved: dict[Sampling, Resolved] = {}
        guard_logs(self._secrets)

    # --- calls ---------------------------------------------------------------------------------

    async def sample(self, request: Request) -> list[Completion]:
        """One request for each slot, never the provider's ``n``."""
        return list(await asyncio.gather(*(self._one(request) for _ in request.slots)))

    async def _one(self, request: Request) -> Completion:
        started = self._clock()
        resolved = self._resolve(request)
        arguments = self._arguments(request, resolved)
        known: dict[str, Any] = {
            "effective_params": resolved.effective,
            "dropped_params": resolved.dropped,
        }
        try:
            answer, attempts = await with_retries(
                lambda: self._attempt(arguments), self._options.retries, self._sleep
            )
        except CallFailed as failure:
            return Completion(
                text="",
                error=str(failure),
                error_kind=failure.kind,
                attempts=failure.attempts,
                # A refusal costs nothing; an answer that was lost may have cost something.
                cost_usd=None if failure.kind == "transport" else 0.0,
                latency_s=self._clock() - started,
                **known,
            )
        cost, source = self._costs.of(answer)
        return Completion(
            text=answer.text,
            finish_reason=answer.finish_reason,
            tool_calls=answer.tool_calls,
            usage=answer.usage,
            cost_usd=cost,
            cost_source=source,
            latency_s=self._clock() - started,
            attempts=attempts,
            provider_model=answer.model,
            request_id=answer.request_id,
            **known,
        )

    async def _attempt(self, arguments: Mapping[str, Any]) -> Answer:
        async with self._throttle.turn(_estimate(arguments["messages"])) as turn:
            try:
                # litellm's own timeout does not hold on every path; this one does.
                async with asyncio.timeout(self._options.timeout_s):
                    response = await load_litellm().acompletion(**arguments)
            except Exception as error:
                raise as_failure(error, self._secrets, self._options.timeout_s) from None
            answer = read_answer(response, self._secrets)
            turn.used(answer.tokens)
            return answer

    def _arguments(self, request: Request, resolved: Resolved) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            **resolved.arguments(self._options.params),
            "model": self.name,
            "messages": [dict(message) for message in request.messages],
            "timeout": self._options.timeout_s,
            "num_retries": 0,
            "max_retries": 0,
        }
        if "response_format" in resolved.effective and request.response_schema is not None:
            arguments["response_format"] = self._format(request.response_schema)
        if request.tools:
            arguments["tools"] = [dict(tool) for tool in request.tools]
            if request.tool_choice is not None:
                arguments["tool_choice"] = request.tool_choice
        if self._options.api_base is not None:
            arguments["api_base"] = self._options.api_base
        if (key := self._key()) is not None:
            arguments["api_key"] = key
        return arguments

    def _key(self) -> str | None:
        """The key to send; ``None``: litellm takes the provider's own from the environment."""
        if self._options.api_key_env is not None:
            return self._environ.get(self._options.api_key_env, "").strip()
        # Another server is never sent the provider's key unasked.
        return None if self._options.api_base is None else "none"

    # --- sampling parameters -------------------------------------------------------------------

    def effective(self, request: Request) -> Mapping[str, Any]:
        """The parameters that are really sent."""
        return self._resolve(request).effective

    def _resolve(self, request: Request) -> Resolved:
        sampling = self._parameters(request.sampling)
        if request.response_schema is None:
            return sampling
        wanted = self._format(request.response_schema)
        if wanted is None:
            return Resolved(sampling.effective, (*sampling.dropped, "response_format"))
        return Resolved({**sampling.effective, "response_format": wanted["type"]}, sampling.dropped)

    def _parameters(self, sampling: Sampling) -> Resolved:
        """Resolved once for each set of requested parameters."""
        if sampling not in self._resolved:
            self._resolved[sampling] = self._resolve_parameters(sampling)
        return self._resolved[sampling]

    def _resolve_parameters(self, sampling: Sampling) -> Resolved:
        if self._frozen is not None and sampling == self._sampling:
            return Resolved(dict(self._frozen["effective"]), tuple(self._frozen["dropped"]))
        model, provider = self._route
        wanted = requested(sampling)
        if self._options.params == "release":
            return released_parameters(model, provider, self._options.api_base, wanted)
        return supported_parameters(load_litellm(), model, provider, wanted)

    def _format(self, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """The response format that the model supports; ``None``: none at all."""
        litellm, (model, provider) = load_litellm(), self._route
        if "response_format" not in (
            litellm.get_supported_openai_params(model=model, custom_llm_provider=provider) or ()
        ):
            return None
        known = self.name in litellm.model_cost or model in litellm.model_cost
        takes_schemas = not known or litellm.supports_response_schema(
            model=model, custom_llm_provider=provider
        )
        return response_format(schema if takes_schemas else {"type": "object"})

    # --- what is known before the first call ---------------------------------------------------

    @cached_property
    def _route(self) -> tuple[str, str]:
        """The name without provider, and the provider. Raises :class:`ConfigProblem`."""
        litellm = load_litellm()
        try:
            model, provider, _, _ = litellm.get_llm_provider(
                model=self.name, api_base=self._options.api_base
            )
        except litellm.BadRequestError:
            raise ConfigProblem(
                f"--model {self.name}: unknown to litellm; write PROVIDER/NAME (gemini/..., "
                "openrouter/...), or openai/NAME with api_base for a server of your own"
            ) from None
        return str(model), str(provider)

    @cached_property
    def _costs(self) -> CallCosts:
        return CallCosts(
            load_litellm(),
            self.name,
            self._price,
            use_table=not self._elsewhere,
            frozen=self._frozen,
        )

    @property
    def _elsewhere(self) -> bool:
        """Whether another server than the provider's own answers, at prices of its own."""
        redirected = ("OPENAI_BASE_URL", "OPENAI_API_BASE")
        return self._options.api_base is not None or (
            self._route[1] == "openai" and any(self._environ.get(name) for name in redirected)
        )

    def manifest(self) -> dict[str, Any]:
        """What the manifest of a run says of its model; the same when the run is resumed."""
        resolved = self._parameters(self._sampling)
        return {
            "provider": self._route[1],
            "litellm": metadata.version("litellm"),
            "requested": requested(self._sampling),
            "effective": dict(resolved.effective),
            "dropped": list(resolved.dropped),
            "table": self._costs.row,
        }

    async def check(self) -> Check:
        """Provider, key, parameters and price, without any request."""
        try:
            provider = self._route[1]
        except ConfigProblem as problem:
            return Check((Problem("config", str(problem)),))
        missing = self._missing_variables(provider)
        problems, notes = [], []
        if missing:
            text = f"--model {self.name}: the environment lacks {' and '.join(missing)}"
            problems.append(Problem("key", text))
        if dropped := self._parameters(self._sampling).dropped:
            notes.append(f"{self.name} does not take {', '.join(dropped)}: not sent")
        # OpenRouter tells what each call cost.
        priced = self._costs.priced or provider == "openrouter"
        return Check(tuple(problems), tuple(notes), priced)

    def _missing_variables(self, provider: str) -> list[str]:
        if self._options.api_key_env is not None:
            return [] if self._key() else [self._options.api_key_env]
        if self._options.api_base is not None or provider in _NEEDS_NO_KEY:
            return []
        return list(load_litellm().validate_environment(self.name)["missing_keys"])

    async def aclose(self) -> None:
        """Give up litellm's connections, which belong to the event loop that ends."""
        litellm = load_litellm()
        await litellm.close_litellm_async_clients()
        litellm.in_memory_llm_clients_cache.flush_cache()


def _estimate(messages: list[Mapping[str, Any]]) -> int:
    """Tokens of a prompt, roughly, until the provider says how many they were."""
    return sum(len(str(message.get("content") or "")) for message in messages) // (
        _CHARACTERS_PER_TOKEN
    )
