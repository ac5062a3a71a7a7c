"""What litellm's exceptions mean for a run: try again, give up this call, or pause the run."""

from __future__ import annotations

import re
from typing import Any

from method.retrying import CallFailed, ErrorKind, read_retry_after
from method.secrets import Secrets

MESSAGE_LIMIT = 500

_QUOTA = re.compile(
    r"insufficient_quota|insufficient credits|credit balance is too low|billing[ _]hard[ _]limit"
    r"|per_?day",
    re.IGNORECASE,
)
"""Marks of an account that is empty; a bare ``quota`` also stands in messages about one minute."""

_KEY = re.compile(r"api[ _]key[ _]not[ _]valid|api_key_invalid|invalid[ _]api[ _]key", re.I)
_MODERATION = re.compile(r"moderation|flagged|content[ _]policy|safety", re.IGNORECASE)
_GARBLED = re.compile(r"unable to get json response|error converting to valid response", re.I)
"""litellm's words for a body that is not an answer, under whatever status it reports it."""

_RETRY_DELAY = re.compile(r"retry-?delay\W+(\d+(?:\.\d+)?)s", re.IGNORECASE)
_PREFIXES = re.compile(r"\A(?:(?:litellm\.)?\w+(?:Error|Exception)(?: - |: ))+")


def as_failure(error: Exception, secrets: Secrets, wall_clock_s: float) -> CallFailed:
    """The failure that an exception of litellm (or of the wall clock) stands for."""
    status = getattr(error, "status_code", None)
    text = f"{error} {getattr(error, 'body', None) or ''}"
    message = _message(error, status, secrets)
    if isinstance(error, TimeoutError):
        return CallFailed(f"no answer within {wall_clock_s:g} s", "transport", retry=True)
    if not isinstance(status, int):
        return CallFailed(message, "refused")
    if status == 429 and not _QUOTA.search(text):
        return CallFailed(message, "transport", retry=True, retry_after=_pause(error, text))
    if status in (200, 408, 409) or status >= 500 or _GARBLED.search(text):
        return CallFailed(message, "transport", retry=True, retry_after=_pause(error, text))
    return CallFailed(message, _final(status, text))


def _final(status: int, text: str) -> ErrorKind:
    """What a failure that is not tried again asks for.

    A wrong model name (404) is a ``key``: no call of the run would ever be answered.
    """
    if status in (402, 429) or (status == 400 and _QUOTA.search(text)):
        return "quota"
    if status == 403 and _MODERATION.search(text):
        return "refused"
    if status in (401, 403, 404) or (status == 400 and _KEY.search(text)):
        return "key"
    return "refused"


def _message(error: Exception, status: object, secrets: Secrets) -> str:
    text = _PREFIXES.sub("", " ".join(str(error).split())) or type(error).__name__
    words = f"{status} {text}" if isinstance(status, int) else f"{type(error).__name__}: {text}"
    return secrets.clean_message(words)[:MESSAGE_LIMIT]


def _pause(error: Exception, text: str) -> float | None:
    """Seconds the server asked for: its header, or the delay that Google puts into the body."""
    headers: Any = getattr(error, "litellm_response_headers", None)
    headers = headers or getattr(getattr(error, "response", None), "headers", None) or {}
    lower = {str(name).lower(): str(value) for name, value in headers.items()}
    seconds = read_retry_after(lower.get("retry-after"))
    if seconds is not None:
        return seconds
    written = _RETRY_DELAY.search(text)
    return float(written.group(1)) if written else None
