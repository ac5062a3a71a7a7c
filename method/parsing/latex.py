"""LaTeX in JSON strings: models write ``"\\frac"`` where JSON wants ``"\\\\frac"``.

Decoded as it stands, the backslash and the letter become a control character without an error. The
guard doubles such backslashes and leaves real escapes (line breaks, tabs, quotes) alone.
"""

from __future__ import annotations

import re

_COMMANDS = re.compile(
    r"(?:beta|bar|binom|begin|big|bigl|bigr|bm|boldsymbol|bot|bullet|frac|forall|flat|nabla|neq|"
    r"neg|nleq|notin|nu|rho|rangle|right|rightarrow|rfloor|rceil|rm|tau|text|textbf|textit|"
    r"theta|times|tilde|tan|tanh|to|top|triangle)\Z"
)
"""Commands whose first letter is also a JSON escape (methods.md 2.6)."""

_STRING = re.compile(r'"(?:[^"\\]+|\\.)*"?', re.S)
_ESCAPE = re.compile(r"\\(?P<next>u[0-9a-fA-F]{4}|.)(?P<run>(?<=[A-Za-z])[A-Za-z]*)?", re.S)


def guard_latex(text: str) -> str:
    """Double the backslashes of LaTeX commands inside the JSON strings of a text."""
    if "\\" not in text:
        return text
    return _STRING.sub(lambda string: _ESCAPE.sub(_guarded, string[0]), text)


def _guarded(escape: re.Match[str]) -> str:
    letter = escape["next"]
    if len(letter) == 1 and letter not in '"\\/bfnrt':
        return "\\" + escape[0]
    if _COMMANDS.match(letter + (escape["run"] or "")):
        return "\\" + escape[0]
    return escape[0]
