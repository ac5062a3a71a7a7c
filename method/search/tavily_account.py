"""Key and quota of a Tavily account, asked for before the first search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from method.preflight import Check, Problem

TIMEOUT_S = 10.0


async def check_account(
    httpx: Any, address: str, key: str | None, variable: str, notes: tuple[str, ...]
) -> Check:
    """What the account says; an account that cannot be asked is a note, not a problem."""
    if key is None:
        return Check((Problem("key", f"--search tavily: the environment lacks {variable}"),), notes)
    try:
        async with httpx.AsyncClient(base_url=address) as client:
            response = await client.get(
                "/usage", headers={"Authorization": f"Bearer {key}"}, timeout=TIMEOUT_S
            )
        if response.status_code == 401:
            return Check((Problem("key", f"--search tavily: the key in {variable} is not valid"),))
        response.raise_for_status()
        left = credits_left(response.json())
    except (httpx.HTTPError, ValueError) as error:
        return Check(notes=(*notes, f"the search quota is unknown ({type(error).__name__})"))
    if left is None:
        return Check(notes=notes)
    if left <= 0:
        problem = Problem("quota", "--search tavily: the account's credits are used up")
        return Check((problem,), notes)
    return Check(notes=(*notes, f"{left:g} search credits are left"))


def credits_left(usage: Any) -> float | None:
    """What key and account leave, the smaller of both; ``None`` when neither has a limit."""
    if not isinstance(usage, Mapping):
        return None
    key, account = usage.get("key"), usage.get("account")
    left = []
    if isinstance(key, Mapping):
        left.append(_left(key, "usage", "limit"))
    if isinstance(account, Mapping):
        plan = _left(account, "plan_usage", "plan_limit")
        extra = _left(account, "paygo_usage", "paygo_limit")
        left.append(None if plan is None else plan + (extra or 0.0))
    known = [value for value in left if value is not None]
    return min(known) if known else None


def _left(values: Mapping[str, Any], used: str, limit: str) -> float | None:
    allowed, spent = values.get(limit), values.get(used) or 0
    numbers = (int, float)
    if isinstance(allowed, bool) or not isinstance(allowed, numbers):
        return None
    return float(allowed) - float(spent) if isinstance(spent, numbers) else None
