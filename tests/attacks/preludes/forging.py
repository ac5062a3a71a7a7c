"""Put before an honest program: writes verdicts, answers and rewards wherever it can, and changes
the modules that carry the answer out.

What it writes into the result channel is an answer of its own at best. So the program may fail, but
it may not score more than the honest one.
"""

import builtins as _builtins
import json as _json
import os as _os
import struct as _struct
import sys as _sys

_VERDICT = {"status": "valid", "search": 1e9, "objective": 1e9, "ndg": 1e9, "reward": 1e9}
_text = (_json.dumps(_VERDICT) + "\n").encode()


def _write_everywhere():
    print(_text.decode(), flush=True)
    for descriptor in range(3, 64):
        try:
            _os.set_blocking(descriptor, False)
            _os.write(descriptor, _struct.pack("<Q", len(_text)) + _text)
        except OSError:
            continue
    for name in ("reward.txt", "reward.json", "result.json", "verdict.json", "failed.json",
                 "score.json", "answer.json", "output"):  # fmt: skip
        for folder in (".", "/logs/verifier", "/tmp", "/tests"):
            try:
                with open(_os.path.join(folder, name), "wb") as file:
                    file.write(_text)
            except OSError:
                continue
    for pid in (_os.getppid(), 1):
        for descriptor in (0, 1, 2, 3, 4, 5):
            try:
                with open(f"/proc/{pid}/fd/{descriptor}", "wb", buffering=0) as file:
                    file.write(_text)
            except OSError:
                continue


def _change(module, name):
    """Replace a function by one that adds a verdict to what it carries."""
    inner = getattr(module, name, None)
    if inner is None:
        return

    def carried(*given, **named):
        if given and isinstance(given[0], dict):
            given = ({**given[0], **_VERDICT}, *given[1:])
        return inner(*given, **named)

    try:
        setattr(module, name, carried)
    except (AttributeError, TypeError):
        pass


for _name in ("wire", "wrapper", "runner", "inside", "__main__", "engine", "swap_router"):
    _module = _sys.modules.get(_name)
    if _module is not None:
        for _function in ("pack", "answer", "reply", "encode", "write", "send", "_answer"):
            _change(_module, _function)
_change(_json, "dumps")
_change(_json, "dump")
_isinstance = _builtins.isinstance
_builtins.isinstance = lambda value, kind: value is _VERDICT or _isinstance(value, kind)
_write_everywhere()
