"""Which documents are the same (methods.md 1.5), and the key of the repeat rate (analysis.md)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Hashable
from functools import lru_cache
from typing import Generic, Literal, Protocol, TypeVar
from urllib.parse import SplitResult, urlsplit

Rule = Literal["composite", "any_key"]

_TITLE_LENGTH = 12
_BODY_LENGTH = 200
_PORTS = {"http": 80, "https": 443}
_TRACKING = re.compile(r"(?:utm_[^=]*|gclid|fbclid|ref)(?:=|\Z)", re.I)
_GENERIC_TITLES = frozenset(
    {
        "pdf",
        "untitled",
        "untitled document",
        "home",
        "homepage",
        "index",
        "index of /",
        "github",
        "document",
        "abstract",
        "just a moment",
        "just a moment...",
        "403 forbidden",
        "404 not found",
        "page not found",
        "access denied",
        "error 404 (not found)",
        "attention required! | cloudflare",
        "are you a robot?",
        "sign in to continue",
        "redirecting...",
        "search results",
    }
)


class Page(Protocol):
    """What identity looks at."""

    @property
    def url(self) -> str: ...

    @property
    def provider_id(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def body(self) -> str: ...


def body_sha256(body: str) -> str:
    """Hash of a body as it was returned."""
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()


def locator(page: Page) -> str:
    """URL, or the provider's id where there is none."""
    return page.url or page.provider_id


def keys_of(page: Page, rule: Rule) -> tuple[Hashable, ...]:
    """The keys of a document inside one retrieve; two with a common key are the same."""
    if rule == "composite":
        return ((locator(page), page.title, body_sha256(page.body)),)
    return _normalised_keys(page)


def lasting_keys(page: Page, rule: Rule) -> tuple[Hashable, ...]:
    """The keys that decide across iterations: the exact locator, or any normalised key."""
    if rule == "composite":
        return (locator(page),)
    return _normalised_keys(page)


def _normalised_keys(page: Page) -> tuple[Hashable, ...]:
    keys: list[Hashable] = []
    if page.url:
        keys.append(("url", normalised_url(page.url)))
    elif page.provider_id:
        keys.append(("id", page.provider_id))
    title = " ".join(unicodedata.normalize("NFKC", page.title).casefold().split())
    if len(title) >= _TITLE_LENGTH and title not in _GENERIC_TITLES:
        keys.append(("title", title))
    body = _collapsed_sha256(page.body)
    if body:
        keys.append(("body", body))
    return tuple(keys)


@lru_cache(maxsize=2048)  # stored bodies are looked at in every retrieve
def _collapsed_sha256(body: str) -> str:
    """Hash of the body with white space collapsed; empty for one too short to tell pages apart."""
    collapsed = " ".join(body.split())
    return body_sha256(collapsed) if len(collapsed) >= _BODY_LENGTH else ""


@lru_cache(maxsize=4096)
def normalised_url(url: str) -> str:
    """A URL without what does not change the page: scheme, fragment, default port, tracking."""
    parts = _split(url)
    if parts is None:
        return url
    query = "&".join(p for p in parts.query.split("&") if p and not _TRACKING.match(p))
    path = parts.path.removesuffix("/")
    return f"//{_authority(parts)}{path}{'?' + query if query else ''}"


def _authority(parts: SplitResult) -> str:
    try:
        port = parts.port
    except ValueError:
        return parts.netloc.lower()
    host = parts.hostname or ""
    if port is None or port == _PORTS.get(parts.scheme.lower()):
        return host
    return f"{host}:{port}"


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return None
    return parts if parts.scheme.lower() in _PORTS and parts.netloc else None


def is_web_url(url: str) -> bool:
    """Whether a text is an http(s) URL with a host."""
    return _split(url) is not None


def host_of(url: str) -> str:
    """Host in lower case without ``www.``; empty for what is no web URL."""
    parts = _split(url)
    return "" if parts is None else (parts.hostname or "").removeprefix("www.")


def repeat_key(page: Page) -> str:
    """Host (lower case), path and query byte for byte, no scheme, no fragment; else the id.

    The key of the repeat share and of ``is_new_in_run``, the same under both rules.
    """
    parts = _split(page.url)
    if parts is None:
        return locator(page)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.netloc.lower()}{parts.path}{query}"


Kept = TypeVar("Kept")


class Index(Generic[Kept]):
    """Kept documents by their keys; the first kept one that shares a key is the same document."""

    def __init__(self) -> None:
        self._kept: list[Kept] = []
        self._first: dict[Hashable, int] = {}

    def find(self, keys: tuple[Hashable, ...]) -> Kept | None:
        """The first kept document with one of these keys."""
        places = [self._first[key] for key in keys if key in self._first]
        return self._kept[min(places)] if places else None

    def keep(self, keys: tuple[Hashable, ...], document: Kept) -> None:
        """Keep a document; keys of documents that were dropped are never added."""
        for key in keys:
            self._first.setdefault(key, len(self._kept))
        self._kept.append(document)
