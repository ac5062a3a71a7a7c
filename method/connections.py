"""What a run talks to: its clients, their recording, prices and blocklist, put together once.

A run that goes on keeps what its manifest says was in force when it started.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from method.cassette import Cassette, Occurrences
from method.config import RunConfig
from method.journal import Event
from method.llm.pricing import Prices, load_prices
from method.llm.record import RecordedModel
from method.llm.scripted import ScriptedModel
from method.models import make_model, make_search, searches
from method.protocols import LLM, SearchBackend
from method.search.blocklist import BlockedSearch, Blocklist
from method.search.record import RecordedSearch
from method.secrets import Secrets


@runtime_checkable
class Described(Protocol):
    """A client that has something to say in a manifest."""

    def manifest(self) -> Mapping[str, Any]:
        """What is resolved once, as JSON."""


@runtime_checkable
class Closable(Protocol):
    """A client with connections that belong to an event loop."""

    async def aclose(self) -> None:
        """Give them up."""


@dataclass(frozen=True)
class Connections:
    """``model`` and ``search`` are what the run calls; behind them stand the clients themselves.

    A replay from a cassette has no clients.
    """

    model: LLM
    search: SearchBackend | None
    model_client: LLM | None
    search_client: SearchBackend | None
    prices: Prices
    blocklist: Blocklist | None
    cassette: Cassette | None

    @property
    def clients(self) -> tuple[object, ...]:
        """The clients that there are."""
        return tuple(c for c in (self.model_client, self.search_client) if c is not None)

    def manifest(self) -> dict[str, Any]:
        """What stays in force when the run is resumed."""
        return {
            "model": self.model.name,
            "client": _described(self.model_client),
            "search": None if self.search is None else self.search.name,
            "web": _described(self.search_client),
            "prices": self.prices.model_dump(mode="json"),
            "blocklist": None if self.blocklist is None else self.blocklist.manifest(),
        }

    async def aclose(self) -> None:
        """Give up the connections of the event loop that ends."""
        for client in self.clients:
            if isinstance(client, Closable):
                await client.aclose()

    def close(self) -> None:
        """Let other runs record into the cassette."""
        if self.cassette is not None:
            self.cassette.close()


def _described(client: object) -> dict[str, Any] | None:
    return dict(client.manifest()) if isinstance(client, Described) else None


def connect(
    config: RunConfig,
    model: LLM | None = None,
    search: SearchBackend | None = None,
    events: Sequence[Event] = (),
) -> Connections:
    """The connections of a run; ``events``: the journal of a run that goes on.

    ``model`` and ``search`` take the place of what the configuration names. Raises
    :class:`~method.config.ConfigProblem` and :class:`~method.cassette.CassetteError`.
    """
    manifest = next((event.data for event in events if event.name == "run_started"), None)
    prices, blocklist = _in_force(config, manifest)
    cassette = None
    if config.cassette is not None:
        secrets = Secrets.of_environment(more=[config.client.api_key_env])
        cassette = Cassette(
            Path(config.cassette), config.cassette_mode, secrets, resumed=manifest is not None
        )
    try:
        if cassette is None or not cassette.replaying:
            frozen = None if manifest is None else manifest.get("client")
            model = model or make_model(config, prices, frozen)
            search = search or make_search(config, prices)
            if isinstance(model, ScriptedModel):
                calls = (event for event in events if event.name == "model_call")
                model.go_on(Counter(event.data["purpose"] for event in calls))
        else:
            model = search = None
        asked, searched = model, search
        if cassette is not None:
            occurrences = Occurrences(list(events))
            asked = RecordedModel(config.model, cassette, model, occurrences)
            if searches(config):
                searched = RecordedSearch(config.search, cassette, search, occurrences)
        assert asked is not None
        if searched is not None and blocklist is not None:
            searched = BlockedSearch(searched, blocklist)
    except BaseException:
        if cassette is not None:
            cassette.close()
        raise
    return Connections(asked, searched, model, search, prices, blocklist, cassette)


def _in_force(
    config: RunConfig, manifest: Mapping[str, Any] | None
) -> tuple[Prices, Blocklist | None]:
    if manifest is None or "prices" not in manifest:
        prices = load_prices(config.prices).in_force(config.model, config.search)
        return prices, Blocklist.shipped() if config.blocklist else None
    listed = manifest["blocklist"]
    return (
        Prices.model_validate(manifest["prices"]),
        None if listed is None else Blocklist.from_manifest(listed),
    )
