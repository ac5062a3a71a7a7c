"""What calls cost where the provider does not say: price files and built-in presets.

A price file is TOML, in US dollars::

    [models."openrouter/qwen/qwen3.5-9b"]
    input = 0.10            # per million tokens
    cached_input = 0.02     # the same as input if not given
    output = 0.15           # reasoning tokens included

    [search.tavily]
    per_credit = 0.008      # or per_search

A model's name without a provider (``gpt-5.6-luna``) holds for every route to it, unless the full
name has an entry of its own. What no file, table or provider knows costs ``None``, never 0.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from method.config import ConfigProblem
from method.protocols import Usage

PRESETS = ("paper-gateway",)
"""Price files that ship with the package, by name."""

Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_MILLION = 1e6


class ModelPrice(BaseModel):
    """US dollars per million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Dollars
    output: Dollars
    cached_input: Dollars | None = None

    def cost(self, usage: Usage) -> float | None:
        """Dollars of one call; ``None`` when its tokens are unknown."""
        if usage.prompt is None or usage.completion is None:
            return None
        cached = min(usage.cached or 0, usage.prompt)
        cached_price = self.input if self.cached_input is None else self.cached_input
        fresh = (usage.prompt - cached) * self.input
        return (fresh + cached * cached_price + usage.completion * self.output) / _MILLION


class SearchPrice(BaseModel):
    """US dollars per search, or per credit of the provider."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    per_search: Dollars | None = None
    per_credit: Dollars | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> SearchPrice:
        if (self.per_search is None) == (self.per_credit is None):
            raise ValueError("give either per_search or per_credit")
        return self

    def cost(self, credits: float | None) -> float | None:
        """Dollars of one search; ``None`` when its credits matter and are unknown."""
        if self.per_search is not None:
            return self.per_search
        assert self.per_credit is not None
        return None if credits is None else credits * self.per_credit


class Prices(BaseModel):
    """The content of a price file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: dict[str, ModelPrice] = {}
    search: dict[str, SearchPrice] = {}

    def of_model(self, name: str) -> ModelPrice | None:
        """The price of a model by its full name, else by its name without a provider."""
        return self.models.get(name) or self.models.get(name.rpartition("/")[2])

    def of_search(self, name: str) -> SearchPrice | None:
        """The price of a search backend."""
        return self.search.get(name)

    def in_force(self, model: str, search: str | None) -> Prices:
        """The entries that a run uses, for its manifest."""
        model_price = self.of_model(model)
        search_price = None if search is None else self.of_search(search)
        return Prices(
            models={} if model_price is None else {model: model_price},
            search={} if search_price is None else {str(search): search_price},
        )


def load_prices(source: str | None) -> Prices:
    """A preset by name, or a price file; no prices for ``None``.

    Raises :class:`ConfigProblem` naming the file and the entry.
    """
    if source is None:
        return Prices()
    try:
        if source in PRESETS:
            file = resources.files("method.llm").joinpath("presets", f"{source}.toml")
            text = file.read_text(encoding="utf-8")
        else:
            text = Path(source).read_text(encoding="utf-8")
        return Prices.model_validate(tomllib.loads(text))
    except OSError as error:
        raise ConfigProblem(
            f"prices {source}: {error.strerror}; give a TOML file or one of {', '.join(PRESETS)}"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigProblem(f"prices {source}: not TOML ({error})") from None
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(str(part) for part in problem["loc"])
        raise ConfigProblem(f"prices {source}: {key}: {problem['msg']}") from None
