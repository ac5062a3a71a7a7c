"""What the calls of one model cost: the provider's word, a price file, litellm's table, or unknown.

Prices are frozen when a run starts: what was in force then is in its manifest and stays in force
when the run is resumed, whatever litellm's table says by then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from method.llm.answers import Answer
from method.llm.pricing import ModelPrice

CostSource = Literal["provider", "table", "none"]


class CallCosts:
    """Costs of one model.

    Args:
        litellm: the library.
        name: the model as litellm names it.
        price: entry of a price file; wins over the table.
        use_table: whether the table speaks of this route (not of another server's address).
        frozen: :attr:`row` of the run that goes on; ``None`` inside a mapping of that run means
            that the table did not know the model.
    """

    def __init__(
        self,
        litellm: Any,
        name: str,
        price: ModelPrice | None,
        *,
        use_table: bool = True,
        frozen: Mapping[str, Any] | None = None,
    ) -> None:
        self._litellm = litellm
        self._name = name
        self._price = price
        self.row: Mapping[str, Any] | None
        """The model's entry of litellm's table: its key and every price in it."""
        if frozen is not None:
            self.row = frozen["table"]
            _restore(litellm, self.row)
        else:
            self.row = _row(litellm, name) if use_table and price is None else None

    @property
    def priced(self) -> bool:
        """Whether costs will be known even where the provider reports none."""
        return self._price is not None or self.row is not None

    def of(self, answer: Answer) -> tuple[float | None, CostSource]:
        """Dollars of one answer and who says so."""
        if answer.reported_cost is not None:
            return answer.reported_cost, "provider"
        cost = None
        if self._price is not None:
            cost = self._price.cost(answer.usage)
        elif self.row is not None and answer.tokens is not None:
            into, out_of = self._litellm.cost_per_token(
                model=self._name, usage_object=answer.usage_object
            )
            cost = into + out_of
        return (None, "none") if cost is None else (cost, "table")


def _row(litellm: Any, name: str) -> dict[str, Any] | None:
    try:
        key = litellm.get_model_info(name)["key"]
    except Exception:  # litellm raises a bare Exception for models that it does not know
        return None
    prices = {field: value for field, value in litellm.model_cost[key].items() if "cost" in field}
    if prices.get("input_cost_per_token") is None or prices.get("output_cost_per_token") is None:
        return None
    return {"key": key, "prices": prices}


def _restore(litellm: Any, row: Mapping[str, Any] | None) -> None:
    """Put frozen prices back into litellm's table, if it has others by now."""
    if row is None:
        return
    now = litellm.model_cost.get(row["key"], {"mode": "chat"})
    if {field: value for field, value in now.items() if "cost" in field} == row["prices"]:
        return
    other = {field: value for field, value in now.items() if "cost" not in field}
    litellm.model_cost.pop(row["key"], None)
    litellm.register_model({row["key"]: {**other, **row["prices"]}})
