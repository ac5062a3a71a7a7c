"""Options of the retrievers; none is dropped, an unknown one fails.

They stand in the table ``[retriever_options]`` of a configuration file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class RetrieverOptions(BaseModel):
    """Nothing to choose: what EvoDuet varies (gate, R, J, M, D) are keys of their own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class OracleOptions(RetrieverOptions):
    """``level``: which documents are given; by default the direct ones, else the inferential."""

    level: Literal["direct", "inferential"] | None = None


class JointOptions(RetrieverOptions):
    """``force_first``: the first call must search; the release leaves it to the model (A22)."""

    force_first: bool = False


class SequentialOptions(RetrieverOptions):
    """``max_reflect``: reflections on one proposal."""

    max_reflect: Annotated[int, Field(ge=0, le=2)] = 1


_MODELS: Mapping[str, type[RetrieverOptions]] = {
    "oracle": OracleOptions,
    "joint": JointOptions,
    "sequential": SequentialOptions,
}


def check_retriever_options(retriever: str, given: Mapping[str, Any]) -> RetrieverOptions:
    """The options of a retriever. Raises ``ValueError`` naming the one that is wrong."""
    model = _MODELS.get(retriever, RetrieverOptions)
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            known = ", ".join(model.model_fields) or "none"
            raise ValueError(f"{key}: unknown option of {retriever} (known: {known})") from None
        raise ValueError(f"{key}: {problem['msg']}") from None
