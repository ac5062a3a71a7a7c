"""Keeping keys out of everything that a run writes or prints.

Keys come from the environment alone. A client passes whatever it hands on (answers, pages, errors)
through :class:`Secrets`, so that neither journal nor cassette nor trace can hold the value of a
key, and the loggers of the libraries that send keys get a filter.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping

REDACTED = "[redacted]"

_NAMES = re.compile(r"(?:\A|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD)\Z", re.IGNORECASE)
_SHAPES = re.compile(
    r"\b(?:sk|pk|gsk|xai|tvly)-[\w-]{8,}|\bAIza[\w-]{20,}|\bhf_\w{16,}|(?<=Bearer )[^\s'\",]+"
)
_SHORTEST = 6
"""Shorter values (``none``, ``EMPTY``) are placeholders and stand in innocent texts."""

_LOGGERS = (
    *("LiteLLM", "litellm", "openai", "openai._base_client", "httpx", "aiohttp.client", "tavily"),
    *("httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy"),
)


class Secrets:
    """The values of keys that must not be written."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        # Longest first: one key may begin with another.
        long = {value for value in values if len(value) >= _SHORTEST}
        self._values = tuple(sorted(long, key=lambda value: (-len(value), value)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secrets) and self._values == other._values

    def __hash__(self) -> int:
        return hash(self._values)

    @classmethod
    def of_environment(
        cls, environ: Mapping[str, str] = os.environ, more: Iterable[str | None] = ()
    ) -> Secrets:
        """Variables whose names look like keys, and the variables named in ``more``."""
        names = {name for name in environ if _NAMES.search(name)} | {n for n in more if n}
        return cls(environ[name].strip() for name in names if name in environ)

    def clean(self, text: str) -> str:
        """A text without the values of keys; every other text stays as it is."""
        for value in self._values:
            text = text.replace(value, REDACTED)
        return text

    def clean_message(self, text: str) -> str:
        """A message for people: also whatever has the shape of a key is taken out."""
        return _SHAPES.sub(REDACTED, self.clean(text))


class _Filter(logging.Filter):
    def __init__(self) -> None:
        super().__init__()
        self.known: dict[Secrets, None] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._clean(record.getMessage()), ()
        if record.exc_info:
            record.exc_text = self._clean(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True

    def _clean(self, text: str) -> str:
        for secrets in tuple(self.known):
            text = secrets.clean_message(text)
        return text


_FILTER = _Filter()


def guard_logs(secrets: Secrets) -> None:
    """From now on the loggers of the libraries behind the clients never print these keys."""
    _FILTER.known[secrets] = None
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)  # the same object is added once
