"""Options of the scaffolds that come from packages; none is dropped, an unknown one fails.

They stand in the table ``[scaffold_options]`` of a configuration file. This module imports neither
package: options are checked before anything heavy is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]


class NoOptions(BaseModel):
    """Our own scaffolds are the paper's; they have nothing to choose."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class OpenEvolveOptions(NoOptions):
    """Numbers of the package ``openevolve``; ``None`` leaves the package's own default.

    ``native_params`` sets the population limit and the migration interval of the paper's scaffold
    (40 and 10), unless they are given here too.
    """

    native_params: bool = False
    population_size: Count | None = None
    archive_size: Count | None = None
    num_islands: Count | None = None
    migration_interval: Count | None = None
    migration_rate: Share | None = None
    elite_selection_ratio: Share | None = None
    exploration_ratio: Share | None = None
    exploitation_ratio: Share | None = None
    num_top_programs: Annotated[int, Field(ge=0)] | None = None
    num_diverse_programs: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _shares_fit(self) -> OpenEvolveOptions:
        if (self.exploration_ratio or 0.0) + (self.exploitation_ratio or 0.0) > 1:
            raise ValueError("exploration_ratio and exploitation_ratio add up to more than 1")
        return self

    def given(self) -> dict[str, Any]:
        """What the package is told, by its own names."""
        native = {"population_size": 40, "migration_interval": 10} if self.native_params else {}
        return native | self.model_dump(exclude={"native_params"}, exclude_none=True)


class EvoXOptions(NoOptions):
    """Numbers of EvoX.

    ``window``: iterations without a gain until a strategy is replaced (``None``: a tenth of the
    run's iterations). ``guides``: the two instruction texts that a strategy may attach to a
    selection are written once by the model, or are the package's defaults. ``count_attempts``:
    failed attempts advance EvoX's own iteration counter, as the authors' manager does (A8).
    """

    window: Count | None = None
    guides: Literal["generated", "default"] = "generated"
    count_attempts: bool = False


_MODELS: Mapping[str, type[NoOptions]] = {
    "openevolve-package": OpenEvolveOptions,
    "evox": EvoXOptions,
}


def check_options(scaffold: str, given: Mapping[str, Any]) -> NoOptions:
    """The options of a scaffold. Raises ``ValueError`` naming the one that is wrong."""
    model = _MODELS.get(scaffold, NoOptions)
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        problem = error.errors()[0]
        key = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            known = ", ".join(model.model_fields) or "none"
            raise ValueError(f"{key}: unknown option of {scaffold} (known: {known})") from None
        raise ValueError(f"{key}: {problem['msg']}".removeprefix(": ")) from None
