"""The HTML file: shell, style, script, a small index, and compressed blocks read when opened.

Every block of data stands in a ``<script>`` of a type that no browser runs. The index is JSON whose
``<``, ``>`` and ``&`` are escaped; a block is base64 of zlib of JSON, so that nothing in a run can
end its element. The script and the style are named to the browser by their hashes, and nothing
else may run or be fetched (Content-Security-Policy).
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import shutil
import zlib
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import IO, Any

LEVEL = 6
"""Of zlib: the blocks are as small as with 9 within a hundredth, in half the time."""


SCRIPTS = (
    "dom.js", "tables.js", "data.js", "charts.js", "overview.js", "methods.js", "matrix.js",
    "runs.js", "run.js", "anytime.js", "timeline.js", "evolution.js", "lists.js", "iteration.js",
    "opened.js", "main.js",
)  # fmt: skip
"""In the order in which they stand in the file, as one script; the last one starts it."""


def plain_json(value: Any) -> str:
    """ASCII JSON without NaN and infinities, which become ``null``."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except ValueError:  # rare, and looking through every value takes longer than writing it
        return json.dumps(finite(value), separators=(",", ":"), allow_nan=False)


def finite(value: Any) -> Any:
    """The same value, with ``None`` for numbers that are not finite: JSON has no word for them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return value


def block(name: str, value: Any) -> str:
    """A compressed block of data; the reader's script finds it by ``name``."""
    content = base64.b64encode(zlib.compress(plain_json(value).encode(), LEVEL)).decode()
    return f'<script type="application/octet-stream" id="{name}">{content}</script>\n'


def index_element(value: Any) -> str:
    """The index, readable without unpacking."""
    text = plain_json(value)
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f'<script type="application/json" id="index">{text}</script>\n'


def write_page(out: IO[str], index: Any, blocks: Path) -> None:
    """Write the whole page; ``blocks`` is a file with the elements of :func:`block`.

    The blocks come last, so that the first view is there while they are still being read.
    """
    style, script = part("style.css"), "".join(map(part, SCRIPTS))
    policy = (
        f"default-src 'none'; script-src '{_source(script)}'; style-src '{_source(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    fields = {
        "policy": policy,
        "style": style,
        "index": index_element(index),
        "script": script,
    }
    for piece in _filled(part("page.html"), fields):
        if piece is not None:
            out.write(piece)
            continue
        with blocks.open(encoding="ascii") as file:
            shutil.copyfileobj(file, out, 1 << 20)


def part(name: str) -> str:
    """A file of the page, as it ships with the package."""
    return resources.files("analysis.report").joinpath("page", name).read_text(encoding="utf-8")


def _filled(template: str, fields: Mapping[str, str]) -> Iterator[str | None]:
    """Pieces of the template with its ``{{fields}}`` filled; ``None`` is the place of blocks."""
    for number, piece in enumerate(template.replace("}}", "{{").split("{{")):
        if number % 2 == 0:
            yield piece
        else:
            yield None if piece == "blocks" else fields[piece]


def _source(text: str) -> str:
    """What a Content-Security-Policy calls an inline script or style."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
