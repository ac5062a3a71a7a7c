"""What a query asks for: its class, a look at documentation, and what it names."""

from __future__ import annotations

import re
from typing import Literal

QueryClass = Literal["known_result", "problem_statement", "method", "other"]

_CLASSES: tuple[tuple[QueryClass, re.Pattern[str]], ...] = (
    (
        "known_result",
        re.compile(
            r"\bbest[- ]known\b|\brecords?\b|\bstate[- ]of[- ]the[- ]art\b|\bsota\b"
            r"|\b(?:upper|lower)[- ]bounds?\b|\boptimal values?\b|\bleader-?boards?\b"
            r"|\bscores?\s*(?:of|is|[:=~>≥≈])?\s*[-+]?\.?\d",
            re.I,
        ),
    ),
    (
        "problem_statement",
        re.compile(
            r"\bproblem statements?\b|\btask descriptions?\b|\brules\b|\bofficial\b|\beditorials?\b"
            r"|\b(?:AHC|ABC|ARC|AGC)[- ]?\d{2,3}\b|\b(?:contest|codeforces|round)\s*#?\d+",
            re.I,
        ),
    ),
    (
        "method",
        re.compile(
            r"\balgorithm|\bmethod|\bheuristic|\bmetaheuristic|\bimplement|\bhow to\b|\btechnique"
            r"|\bsolver|optimi[sz]|\bcodes?\b|\blibrar(?:y|ies)\b",
            re.I,
        ),
    ),
)
_DOCUMENTATION = re.compile(
    r"\bdocs\b|\bdocumentation\b|\bAPIs?\b|\bsignatures?\b|\bparameters?\b|\bversions?\b"
    r"|\brelease notes\b|\bchange-?log\b|\bpull requests?\b|\bPR ?#?\d+|\bissues? ?#?\d+",
    re.I,
)
_NUMBERED = re.compile(
    r"(?<![A-Za-z])(PR|pull(?: request)?|issue|#)\s*#?(\d{3,6})(?!\d)", re.I
)  # a pull request and an issue of one number are one thing on the usual hosts
_ARXIV = re.compile(r"\b(\d{4}\.\d{4,5})(?:v\d+)?\b")


def query_class(text: str) -> QueryClass:
    """Class of a query; the first that matches wins."""
    for name, pattern in _CLASSES:
        if pattern.search(text):
            return name
    return "other"


def asks_for_documentation(text: str) -> str:
    """What in a query asks for live documentation: an interface, a version, a change; or empty."""
    found = _DOCUMENTATION.search(text)
    if found is None or query_class(text) not in ("method", "other"):
        return ""
    return found[0]


def identifiers(text: str) -> set[str]:
    """Pull requests and issues (``#123``) and papers (``arXiv 2401.01234``) that a query names."""
    numbered = {f"#{match[2]}" for match in _NUMBERED.finditer(text)}
    return numbered | {f"arXiv {match[1]}" for match in _ARXIV.finditer(text)}
