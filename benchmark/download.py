"""Downloads through pooch that go on where an interrupted one stopped.

pooch checks the sha256 and moves the file into place; :class:`Resuming` is the downloader that it
calls. Bytes received so far stay beside the target as ``<name>.partial`` until they are all there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Progress = Callable[[str, int, int | None], None]
"""Called with the file's name, the bytes that are there and the total, where it is known."""

CHUNK = 1 << 13
"""Bytes that are read and written at once; of an answer that breaks off less than this is lost."""

ATTEMPTS = 3
CONNECT_S, READ_S = 10.0, 60.0


class DownloadError(Exception):
    """Nothing usable came from the address; the message names it and says why."""


def download(url: str, target: Path, sha256: str | None, progress: Progress | None = None) -> None:
    """Bring ``url`` to the file ``target``; with a ``sha256`` the content must have it.

    The target appears whole or not at all. Raises :class:`DownloadError`, or ``OSError`` when the
    disk is full or not writable.
    """
    import pooch

    pooch.get_logger().setLevel("WARNING")
    downloader = Resuming(target, pinned=sha256 is not None, progress=progress)
    for continued in (downloader.partial.exists(), False):
        try:
            pooch.retrieve(url, sha256, target.name, target.parent, downloader=downloader)
            return
        except ValueError:  # what pooch raises for a wrong hash; it has deleted the file
            if not continued:
                break
    raise DownloadError(f"{url}: wrong sha256, not the file that is expected")


class Resuming:
    """A pooch downloader for http and https that continues a partial file.

    A partial file is continued when the whole will be checked (``pinned``) or when the server
    confirms that its file has not changed (ETag or Last-Modified).
    """

    def __init__(self, target: Path, *, pinned: bool, progress: Progress | None = None) -> None:
        self.name = target.name
        self.partial = target.with_name(target.name + ".partial")
        self.validator = target.with_name(target.name + ".partial.validator")
        self.pinned = pinned
        self.progress = progress

    def __call__(self, url: str, output_file: str, pooch: Any, check_only: bool = False) -> None:
        """Download ``url`` into the file that pooch names."""
        import requests

        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._attempt(url)
                break
            except requests.HTTPError as error:
                raise DownloadError(str(error)) from None
            except requests.RequestException as error:
                if attempt == ATTEMPTS:
                    raise DownloadError(f"{url}: {_cause(error)}") from None
                time.sleep(0.2 * attempt)
        self.validator.unlink(missing_ok=True)
        self.partial.replace(output_file)

    def _attempt(self, url: str) -> None:
        import requests

        there, headers = self._resume()
        with requests.get(
            url, headers=headers, stream=True, timeout=(CONNECT_S, READ_S)
        ) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable:
                self.partial.unlink()  # longer than the file is now: begin again
                raise requests.ConnectionError("the partial file did not fit and was dropped")
            response.raise_for_status()
            continued = response.status_code == requests.codes.partial_content
            if not continued:
                there = 0
            elif not response.headers.get("Content-Range", "").startswith(f"bytes {there}-"):
                raise requests.ConnectionError("the server sent another range than asked for")
            self._remember(response.headers)
            rest = response.headers.get("Content-Length")
            total = there + int(rest) if rest is not None else None
            with self.partial.open("ab" if continued else "wb") as file:
                for chunk in response.iter_content(CHUNK):
                    file.write(chunk)
                    there += len(chunk)
                    if self.progress is not None:
                        self.progress(self.name, there, total)
        if total is not None and there != total:
            raise requests.ConnectionError(f"ended after {there} of {total} bytes")

    def _resume(self) -> tuple[int, dict[str, str]]:
        """Bytes that are there, and the headers that ask for the rest."""
        headers = {"Accept-Encoding": "identity"}  # a range of compressed bytes helps nobody
        there = self.partial.stat().st_size if self.partial.is_file() else 0
        validator = self.validator.read_text() if self.validator.is_file() else ""
        if there == 0 or not (self.pinned or validator):
            return 0, headers
        headers["Range"] = f"bytes={there}-"
        if validator:
            headers["If-Range"] = validator
        return there, headers

    def _remember(self, headers: Any) -> None:
        etag = headers.get("ETag", "")
        strong = etag if etag and not etag.startswith("W/") else headers.get("Last-Modified", "")
        self.validator.write_text(strong)


def _cause(error: Exception) -> str:
    """The innermost reason of a chain of network exceptions, in one line."""
    inner: Any = error
    while True:
        deeper = getattr(inner, "reason", None) or next(
            (arg for arg in getattr(inner, "args", ()) if isinstance(arg, Exception)), None
        )
        if not isinstance(deeper, Exception):
            break
        inner = deeper
    return " ".join(str(inner).split())[:200] or type(inner).__name__
