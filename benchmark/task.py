"""A task as its ``task.toml`` declares it. This file tells everything that can stand there.

The task's id is ``<domain>/<name>``, the names of its two folders. Besides ``task.toml`` a task
folder holds ``instructions.md`` (the problem as a method reads it), an initial program
(``initial.py``, ``.cpp`` or ``.rs``), ``evaluator.py`` and, where needed, ``data/``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from benchmark.sandbox.limits import Limits

AnchorStatus = Literal["measured", "official", "derived", "published"]
Language = Literal["python", "cpp", "rust"]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
RelativePath = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$")
]
Function = Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")]
SUFFIXES: Mapping[str, str] = {"python": ".py", "cpp": ".cpp", "rust": ".rs"}


class TaskError(ValueError):
    """A task folder is broken; the message names the file, the key and what is expected."""


class _Declared(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Anchor(_Declared):
    """A fixed point of the NDG scale: a value of the reporting metric and how it is known."""

    value: float
    status: AnchorStatus
    source: str
    note: str = ""


class Anchors(_Declared):
    """``initial`` is x0, ``sota`` the best known score."""

    initial: Anchor
    sota: Anchor

    @model_validator(mode="after")
    def _differ(self) -> Anchors:
        if self.initial.value == self.sota.value:
            raise ValueError("initial and sota must differ")
        return self


class Allowance(_Declared):
    """``[limits]``: what one candidate may use; seconds and MB."""

    wall_s: Annotated[float, Field(gt=0)]
    cpu_s: Annotated[float, Field(gt=0)] | None = None
    memory_mb: Annotated[int, Field(ge=64)] = 2048
    processes: Annotated[int, Field(ge=1)] = 64
    scratch_mb: Annotated[int, Field(ge=1)] = 256
    idle_s: Annotated[float, Field(gt=0)] | None = None


class SearchDefaults(_Declared):
    """``[search]``: what a method that is told nothing else should use on this task."""

    iterations: Annotated[int, Field(ge=1)] = 100
    max_chars: Annotated[int, Field(ge=1)] | None = None
    """Longest program in characters, where the task's release has a limit of its own."""


class Option(_Declared):
    """``[options.NAME]``: a setting of this task, given as ``--set NAME=value``."""

    type: Literal["int", "float", "str", "bool", "path"]
    default: int | float | str | bool | None = None
    choices: tuple[int | float | str, ...] = ()
    help: str


class Mirrored(_Declared):
    """Where a data file lies in a mirror (``EVODUET_DATA_MIRROR``), with its checksum."""

    path: RelativePath
    sha256: Sha256


class Download(_Declared):
    """One file to download, as it is in public; ``sha256`` where somebody has published it."""

    url: Annotated[str, Field(pattern="^https?://")]
    sha256: Sha256 | None = None


class Source(_Declared):
    """Where a data file comes from in public: ``url``, or ``parts`` where it takes several.

    ``converter`` (``"package.module:function"``) turns the downloads into the file: it is called
    with the list of their paths, in this order, and the path to write. It raises ``ValueError``
    for downloads that are not what they should be.
    """

    url: Annotated[str, Field(pattern="^https?://")] | None = None
    sha256: Sha256 | None = None
    parts: tuple[Download, ...] = ()
    converter: Function | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Source:
        if (self.url is None) == (not self.parts):
            raise ValueError("a source has either url or parts")
        if self.parts and self.converter is None:
            raise ValueError("parts need a converter that makes one file of them")
        return self

    @property
    def downloads(self) -> tuple[Download, ...]:
        """What to download, in order."""
        return self.parts or (Download(url=self.url or "", sha256=self.sha256),)


class Check(_Declared):
    """What a file must hold whose bytes may differ from the mirror's (other zlib, other row order).

    ``arrays``: sha256 of each array's little-endian bytes in an ``.npz`` file; ``rows``: number of
    rows below the header of a CSV file.
    """

    arrays: dict[str, Sha256] = {}
    rows: Annotated[int, Field(gt=0)] | None = None


class DataFile(_Declared):
    """``[[data]]``: a third-party file that the evaluator needs and that is not shipped.

    It comes from the mirror, is made here by ``rebuild`` (``"package.module:function"``, called
    with the path to write, no network), or is downloaded from ``source``. Its bytes must have the
    sha256 of ``mirror``, or of a ``source`` without converter, unless it passes ``check``. Where
    none of these is known the converter decides, and what it accepted must not change later.
    """

    name: RelativePath
    variants: tuple[str, ...] = ("official",)
    """Data variants that need the file; none: an option of the task alone asks for it."""
    mirror: Mirrored | None = None
    rebuild: Function | None = None
    source: Source | None = None
    check: Check | None = None
    licence: str
    size: Annotated[int, Field(gt=0)]
    """Bytes, roughly where the download is not pinned."""

    @model_validator(mode="after")
    def _obtainable_and_checked(self) -> DataFile:
        if self.mirror is None and self.rebuild is None and self.source is None:
            raise ValueError("a data file needs a mirror, a rebuild or a source")
        trusted = self.digests or self.check or (self.source and self.source.converter)
        if not trusted:
            raise ValueError("a data file needs a sha256, a check or a converter that checks")
        return self

    @property
    def digests(self) -> frozenset[str]:
        """Sha256 of the bytes that are known to be right."""
        known = {self.mirror.sha256} if self.mirror else set()
        if self.source and self.source.converter is None and self.source.sha256:
            known.add(self.source.sha256)
        return frozenset(known)


class Declaration(_Declared):
    """The whole of ``task.toml``."""

    title: str
    domain_title: str
    direction: Literal["min", "max"]
    reporting_metric: str
    version: Annotated[int, Field(ge=1)]
    language: Language
    cost: Literal["cheap", "moderate", "expensive"]
    """Of one evaluation of the initial program: seconds, a minute or two, longer."""
    limits: Allowance
    search: SearchDefaults = SearchDefaults()
    anchors: Anchors
    held_out: bool = False
    """True where the reporting metric is known at stage ``report`` alone."""
    regress_tolerance: Annotated[float, Field(gt=0)] = 1e-9
    """Largest relative change of the objective that ``evoduet regress`` does not report."""
    variants: tuple[Literal["official", "embedded", "partial"], ...] = ("official",)
    """Data variants in the order of preference; only ``official`` scores are comparable."""
    requires: tuple[str, ...] = ()
    """Import names of libraries beyond the harness's own that the evaluator needs."""
    toolchain: tuple[str, ...] = ()
    """Commands that must be on the PATH (``g++``, ``cargo``)."""
    options: dict[str, Option] = {}
    data: tuple[DataFile, ...] = ()


@dataclass(frozen=True, eq=False)
class Task:
    """A declared task and where it lives.

    ``package`` is the import name of its folder, ``None`` for a folder outside any package.
    """

    id: str
    folder: Path
    package: str | None
    declared: Declaration

    @property
    def name(self) -> str:
        """The last part of the id; unique."""
        return self.id.rpartition("/")[2]

    @property
    def domain(self) -> str:
        """The first part of the id."""
        return self.id.partition("/")[0]

    @property
    def initial_program(self) -> Path:
        """The program that a method starts from."""
        return self.folder / f"initial{SUFFIXES[self.declared.language]}"

    @property
    def instructions(self) -> str:
        """The problem statement that a method shows to a model."""
        return (self.folder / "instructions.md").read_text(encoding="utf-8")

    @property
    def limits(self) -> Limits:
        """The default limits of one candidate."""
        return Limits(**self.declared.limits.model_dump())

    def options(self, given: Mapping[str, str]) -> dict[str, Any]:
        """All options, ``given`` texts converted; raises :class:`TaskError` naming the option."""
        unknown = sorted(given.keys() - self.declared.options.keys())
        if unknown:
            known = ", ".join(sorted(self.declared.options)) or "none"
            raise TaskError(f"--set {unknown[0]}: {self.id} has no such option (it has: {known})")
        values: dict[str, Any] = {
            name: option.default for name, option in self.declared.options.items()
        }
        for name, text in given.items():
            values[name] = _convert(name, self.declared.options[name], text)
        return values


def _convert(name: str, option: Option, text: str) -> Any:
    try:
        value: Any = _CONVERTERS[option.type](text)
    except (KeyError, ValueError):
        raise TaskError(f"--set {name}={text}: expected a value of type {option.type}") from None
    if option.choices and value not in option.choices:
        choices = ", ".join(map(str, option.choices))
        raise TaskError(f"--set {name}={text}: expected one of {choices}")
    if option.type == "path" and not value.exists():
        raise TaskError(f"--set {name}={text}: there is no such file")
    return value


_CONVERTERS: Mapping[str, Any] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
    "path": Path,
}


def read_task(folder: Path, package: str | None = None) -> Task:
    """Read one task folder. Raises :class:`TaskError` naming file, key and expectation."""
    folder = folder.resolve()
    file = folder / "task.toml"
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TaskError(f"{file}: missing; a task folder needs one") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TaskError(f"{file}: not TOML ({error})") from None
    try:
        declared = Declaration.model_validate(content)
    except ValidationError as error:
        raise TaskError(f"{file}: {_first_problem(error)}") from None
    task = Task(f"{folder.parent.name}/{folder.name}", folder, package, declared)
    for needed in (task.initial_program, folder / "instructions.md", folder / "evaluator.py"):
        if not needed.is_file():
            raise TaskError(f"{needed}: missing; a task folder needs one")
    return task


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    key = ".".join(str(part) for part in problem["loc"]) or "the file"
    if problem["type"] == "extra_forbidden":
        return f"{key}: unknown key; see benchmark/task.py for the known ones"
    if problem["type"] == "missing":
        return f"{key}: missing"
    return f"{key}: {problem['msg']} (got {problem['input']!r})"
