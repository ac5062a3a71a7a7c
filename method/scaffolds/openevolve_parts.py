"""The parts of the package ``openevolve`` 0.4 that our adapter calls, made repeatable.

The package draws from the global random generator, keeps islands and archive in sets of random
UUIDs, and asks for the time. Here every call to it runs on a stream of ours, its sets remember the
order of insertion, and ids and times come from the run's seed and iteration (methods.md 4.6). Its
controllers, evaluators and its own saving and loading are never used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, MutableSet, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any

from method.protocols import Program
from method.scaffolds.native_population import program_id
from method.scaffolds.options import OpenEvolveOptions
from method.scaffolds.packages import PackageProblem, Stream, metrics_of
from method.scaffolds.solution_prompt import FENCE_TAGS, PromptTask


class OrderedSet(MutableSet[str]):
    """A set of ids in order of insertion, with the methods that the package calls."""

    def __init__(self, items: Iterable[str] = ()) -> None:
        self._items = dict.fromkeys(items)

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"OrderedSet({list(self._items)})"

    def add(self, value: str) -> None:
        self._items[value] = None

    def discard(self, value: str) -> None:
        self._items.pop(value, None)

    def copy(self) -> OrderedSet:
        return OrderedSet(self._items)

    def union(self, *others: Iterable[str]) -> OrderedSet:
        return OrderedSet(item for items in (self._items, *others) for item in items)

    def difference(self, *others: Iterable[str]) -> OrderedSet:
        dropped = set().union(*others)
        return OrderedSet(item for item in self._items if item not in dropped)

    def intersection_update(self, *others: Iterable[str]) -> None:
        for items in others:
            kept = set(items)
            self._items = {item: None for item in self._items if item in kept}


@dataclass
class _Identity:
    """Stands in for the modules ``uuid`` and ``time`` inside the package's database module.

    The only ids that the package makes are those of its copies: seeds of empty islands and
    migrants, numbered within an iteration.
    """

    seed: int
    t: int = 0
    kind: str = "seed"
    copies: int = 0

    def uuid4(self) -> str:
        self.copies += 1
        return program_id(self.seed, self.t, self.copies - 1, self.kind)

    def time(self) -> float:
        return float(self.t)


@dataclass(frozen=True)
class Sampled:
    """What the package chose for one iteration: its own program objects."""

    parent: Any
    inspirations: Sequence[Any]
    previous: Sequence[Any]
    top: Sequence[Any]


class Database:
    """The package's program database."""

    def __init__(self, seed: int, options: OpenEvolveOptions) -> None:
        import openevolve.database as module
        from openevolve.config import DatabaseConfig, PromptConfig

        self._module = module
        self._stream = Stream(f"{seed}:scaffold")
        self._identity = _Identity(seed)
        given = options.given()
        database, prompt, unknown = split_options(given, DatabaseConfig, PromptConfig)
        if unknown:
            raise PackageProblem(f"this version of openevolve has no option {', '.join(unknown)}")
        self.shown = PromptConfig(**prompt)
        with self._at(0, "seed"):
            self.inner = module.ProgramDatabase(DatabaseConfig(random_seed=None, **database))
        self.inner.islands = [OrderedSet(island) for island in self.inner.islands]
        self.inner.archive = OrderedSet(self.inner.archive)

    @contextmanager
    def _at(self, t: int, kind: str) -> Iterator[None]:
        """The package as it is called in iteration ``t``; copies it makes are of this kind."""
        identity, module = self._identity, self._module
        if identity.t != t:
            identity.t, identity.copies = t, 0
        identity.kind = kind
        replaced = module.uuid, module.time
        module.uuid = module.time = identity
        try:
            with self._stream.as_global():
                yield
        finally:
            module.uuid, module.time = replaced

    @property
    def feature_dimensions(self) -> list[str]:
        """Names of the axes of the map of cells."""
        return list(self.inner.config.feature_dimensions)

    def sample(self, t: int) -> Sampled:
        """Parent and context of iteration ``t``, from the island whose turn it is."""
        tops, others = self.shown.num_top_programs, self.shown.num_diverse_programs
        with self._at(t, "seed"):
            parent, inspirations = self.inner.sample_from_island(self.island_of(t), others)
        home = parent.metadata.get("island", self.inner.current_island)
        members = [
            self.inner.programs[name]
            for name in self.inner.islands[home]
            if name in self.inner.programs
        ]
        members.sort(key=lambda program: -program.metrics["combined_score"])
        return Sampled(parent, inspirations, members[:tops], members[: tops + others])

    def add(self, program: Program, island: int) -> bool:
        """Add a program; then migrate when it is due, and say whether there was a migration.

        The initial program (iteration 0) counts no generation. Raises :class:`PackageProblem` if
        the program is not in its island afterwards.
        """
        parent = self.inner.programs.get(program.parent_id)
        entry = self._entry(program, parent)
        with self._at(program.iteration, "migrant"):
            added = self.inner.add(entry, iteration=program.iteration, target_island=island)
            if added != program.id or program.id not in self.inner.islands[island]:
                raise PackageProblem(
                    f"openevolve did not put the child of iteration {program.iteration} into "
                    f"island {island}"
                )
            if program.parent_id is None:
                return False
            self.inner.increment_island_generation(island_idx=entry.metadata["island"])
            due = bool(self.inner.should_migrate())
            if due:
                self.inner.migrate_programs()
        return due

    def _entry(self, program: Program, parent: Any) -> Any:
        metadata: dict[str, Any] = {}
        if parent is not None:
            metadata = {"changes": program.changes, "parent_metrics": parent.metrics}
        return self._module.Program(
            id=program.id,
            code=program.code,
            language=program.language,
            parent_id=program.parent_id,
            generation=0 if parent is None else parent.generation + 1,
            timestamp=float(program.iteration),
            iteration_found=program.iteration,
            metrics=metrics_of(program),
            metadata=metadata,
            # Set here: the package's own way to store artifacts writes large ones into files.
            artifacts_json=json.dumps(dict(program.artifacts)) if program.artifacts else None,
        )

    def island_of(self, t: int) -> int:
        """The island whose turn iteration ``t`` is (round robin)."""
        return (t - 1) % len(self.inner.islands)

    def artifacts(self, name: str) -> dict[str, str]:
        """Feedback and attachments of a program."""
        return dict(self.inner.get_artifacts(name))

    def fingerprint(self) -> str:
        """Hash of everything that later iterations depend on."""
        inner = self.inner
        facts = (
            [(name, entry.metadata.get("island")) for name, entry in inner.programs.items()],
            [list(island) for island in inner.islands],
            [sorted(cells.items()) for cells in inner.island_feature_maps],
            list(inner.archive),
            inner.island_best_programs,
            inner.best_program_id,
            inner.island_generations,
            inner.last_migration_generation,
            sorted(inner.feature_stats.items()),
            self._stream.digest(),
        )
        return hashlib.sha256(repr(facts).encode()).hexdigest()


@dataclass(frozen=True)
class PromptParts:
    """A prompt of the package, cut where failed attempts and documents go."""

    before: str
    history: str
    program: str
    task: str


class Sampler:
    """The package's prompt builder. It draws random programs: ask it once an iteration."""

    def __init__(self, seed: int, task: PromptTask, shown: Any) -> None:
        from openevolve.prompt.sampler import PromptSampler

        self._task = task
        self._stream = Stream(f"{seed}:prompt")
        self._sampler = PromptSampler(shown)
        self._sampler.config.system_message = task.instructions
        key = "diff_user" if task.edit == "diff" else "full_rewrite_user"
        templates = self._sampler.template_manager.templates
        templates[key] = with_marks(templates[key])

    def build(self, t: int, sampled: Sampled, artifacts: Mapping[str, str], axes: list[str]) -> Any:
        """The system message and the parts of the user message."""
        arguments = {
            "current_program": sampled.parent.code,
            "parent_program": sampled.parent.code,
            "program_metrics": sampled.parent.metrics,
            "previous_programs": [entry.to_dict() for entry in sampled.previous],
            "top_programs": [entry.to_dict() for entry in sampled.top],
            "inspirations": [entry.to_dict() for entry in sampled.inspirations],
            "language": FENCE_TAGS.get(self._task.language, self._task.language),
            "evolution_round": t,
            "diff_based_evolution": self._task.edit == "diff",
            "program_artifacts": dict(artifacts) or None,
            "feature_dimensions": axes,
        }
        # The hash of all that will be printed: nothing that is printed can contain it.
        mark = f"\ue000{hashlib.sha256(repr(arguments).encode()).hexdigest()}\ue000"
        with self._stream.as_global():
            prompt = self._sampler.build_prompt(**arguments, **{MARK: mark})
        parts = prompt["user"].split(mark)
        if len(parts) != 4:
            raise PackageProblem("openevolve's prompt template does not print what it is given")
        return prompt["system"], PromptParts(*parts)

    def digest(self) -> str:
        """Hash of where the random stream of prompts stands."""
        return self._stream.digest()


MARK = "evoduet_mark"


def with_marks(template: str) -> str:
    """A template of the package with marks around the history and before the task section.

    Raises :class:`PackageProblem` unless each anchor occurs exactly once.
    """
    field = "{" + MARK + "}"
    for anchor, marked in (
        ("{evolution_history}", f"{field}{{evolution_history}}{field}"),
        ("\n# Task\n", f"\n{field}# Task\n"),
    ):
        if template.count(anchor) != 1:
            raise PackageProblem(
                f"openevolve's prompt template holds {anchor.strip()!r} {template.count(anchor)} "
                "times; the adapter needs it once"
            )
        template = template.replace(anchor, marked)
    return template


def split_options(
    given: Mapping[str, Any], database: type, prompt: type
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """Options by the package's class that has a field of that name, and those that none has."""
    names = [{field.name for field in fields(owner)} for owner in (database, prompt)]
    parts = [{key: given[key] for key in given if key in known} for known in names]
    return parts[0], parts[1], sorted(given.keys() - names[0] - names[1])
