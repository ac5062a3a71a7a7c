"""litellm, imported when a model is first needed: it is large, and its import takes seconds."""

from __future__ import annotations

import importlib
import logging
import os
from functools import cache
from typing import Any

from method.config import MissingProblem


@cache
def load_litellm() -> Any:
    """The library, set up. Raises :class:`MissingProblem` when the extra is not installed."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import tries a download
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # else it reads .env files
    try:
        litellm: Any = importlib.import_module("litellm")
    except ImportError as error:
        raise MissingProblem(
            f"models of providers need litellm ({error}); pip install 'evoduet[llm]'"
        ) from None
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    return litellm
