"""The population of the scaffold that the paper calls OpenEvolve (methods.md 4.7).

Five islands of programs, each with a map of cells (complexity x diversity), a global archive,
migration between neighbouring islands, and a limit of forty programs. Every set is ordered by
insertion, every random number comes from one stream, so a run is a function of its seed.

The island of a program is an attribute that it keeps for good; a program displaced from its cell
leaves the island's *set* and stays in the population as an orphan.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from method.protocols import Program
from method.scaffolds.native_features import BINS, Cell, Differences, Range

ISLANDS = 5


@dataclass(frozen=True)
class Parameters:
    """The released values."""

    population: int = 40
    archive: int = 100
    exploration: float = 0.2
    exploitation: float = 0.7
    elite_share: float = 0.1
    context: int = 4
    migration_interval: int = 10
    migration_rate: float = 0.1


@dataclass
class Member:
    """A program with the island it belongs to."""

    program: Program
    island: int
    migrant: bool = False

    @property
    def score(self) -> float:
        return self.program.search_score


def program_id(seed: int, t: int, slot: int, kind: str) -> str:
    """Id of a program: nothing of it depends on time or run (methods.md 4.6)."""
    return hashlib.sha256(f"{seed}:{t}:{slot}:{kind}".encode()).hexdigest()[:32]


@dataclass
class Population:
    """State and rules. ``start`` once; then ``select`` and at most one ``insert`` an iteration."""

    seed: int
    parameters: Parameters = Parameters()
    programs: dict[str, Member] = field(default_factory=dict)
    islands: list[dict[str, None]] = field(default_factory=lambda: [{} for _ in range(ISLANDS)])
    cells: list[dict[Cell, str]] = field(default_factory=lambda: [{} for _ in range(ISLANDS)])
    island_best: list[str | None] = field(default_factory=lambda: [None] * ISLANDS)
    generations: list[int] = field(default_factory=lambda: [0] * ISLANDS)
    archive: dict[str, None] = field(default_factory=dict)
    best: str | None = None
    current_island: int = 0
    last_migration: int = 0
    complexity: Range = field(default_factory=Range)
    diversity: Range = field(default_factory=Range)
    migrations: list[int] = field(default_factory=list)
    """Iterations in which programs migrated."""

    def __post_init__(self) -> None:
        self._rng = random.Random(f"{self.seed}:scaffold")
        self._differences = Differences(self._rng)
        self._t = 0
        self._copies = 0
        self._last_child_iteration = 0

    # --- the three steps of an iteration -------------------------------------------------------

    def start(self, x0: Program) -> None:
        """Take the initial program as iteration 0."""
        self._add(x0, 0)
        self._count_generation(0)

    def select(self, t: int) -> tuple[Program, list[Program]]:
        """Parent and context programs of iteration ``t``."""
        self._t, self._copies = t, 0
        parent = self._sample_parent()
        context = self._sample_context(parent)
        self.current_island = (self.current_island + 1) % ISLANDS
        return parent.program, [self.programs[name].program for name in context]

    def insert(self, t: int, child: Program) -> list[str]:
        """Offer a child; it joins the island of its parent. Returns the ids that were evicted."""
        parent = self.programs.get(child.parent_id or "")
        island = parent.island if parent is not None else self.current_island
        self._last_child_iteration = t
        before = set(self.programs)
        self._add(child, island)
        self._count_generation(island)
        return [name for name in before if name not in self.programs]

    # --- selection -----------------------------------------------------------------------------

    def _sample_parent(self) -> Member:
        chance = self._rng.random()
        explore = chance < self.parameters.exploration
        exploit = (
            not explore and chance < self.parameters.exploration + self.parameters.exploitation
        )
        if exploit and self.archive:
            own = [name for name in self.archive if self._island(name) == self.current_island]
            return self.programs[self._rng.choice(own or list(self.archive))]
        if explore or exploit:
            island = self.islands[self.current_island]
            return self.programs[self._rng.choice(list(island))] if island else self._seed_island()
        return self.programs[self._rng.choice(list(self.programs))]

    def _seed_island(self) -> Member:
        """A copy of the global best for an empty island: in its set, but in no cell or archive."""
        assert self.best is not None
        original = self.programs[self.best].program
        copy = replace(
            original,
            id=self._copy_id("seed"),
            parent_id=original.id,
            iteration=self._last_child_iteration,
            changes="",
            context_ids=(),
            copy_of=original.id,
        )
        member = Member(copy, self.current_island)
        self.programs[copy.id] = member
        self.islands[self.current_island][copy.id] = None
        return member

    def _sample_context(self, parent: Member) -> list[str]:
        island, wanted = self.islands[parent.island], self.parameters.context
        if not island:
            return []
        taken = {parent.program.id: None}
        best = self.island_best[parent.island]
        top = self._by_score(island)[: max(1, int(self.parameters.elite_share * wanted))]
        for name in [*([best] if best is not None else []), *top]:
            taken.setdefault(name)
        if len(island) > wanted:
            self._add_neighbours(parent, island, taken, wanted + 1)
            rest = [name for name in island if name not in taken]
            missing = wanted + 1 - len(taken)
            if missing > 0:
                taken.update(dict.fromkeys(self._rng.sample(rest, min(missing, len(rest)))))
        return list(taken)[1:]

    def _add_neighbours(
        self, parent: Member, island: Iterable[str], taken: dict[str, None], limit: int
    ) -> None:
        """Members in cells near the parent's; reading cells moves the ranges, as insertion does."""
        home = self._cell(parent.program)
        where = {self._cell(self.programs[name].program): name for name in island}
        for _ in range(3 * (limit - len(taken))):
            near = tuple(min(max(place + self._rng.randint(-2, 2), 0), BINS - 1) for place in home)
            found = where.get((near[0], near[1]))
            if found is not None and found not in taken:
                taken[found] = None
                if len(taken) == limit:
                    return

    # --- insertion -----------------------------------------------------------------------------

    def _add(self, program: Program, island: int, *, migrant: bool = False) -> None:
        """Steps 1 to 4 of an insertion."""
        best_before = self.best
        member = Member(program, island, migrant)
        self.programs[program.id] = member
        self._take_cell(member)
        self.islands[island][program.id] = None
        self._enter_archive(member)
        self._evict(keep={program.id, best_before})
        if self.best is None or self.programs[self.best].score < member.score:
            self.best = program.id
        local = self.island_best[island]
        if local is None or self.programs[local].score < member.score:
            self.island_best[island] = program.id

    def _take_cell(self, member: Member) -> None:
        cell = self._cell(member.program)
        holder = self.cells[member.island].get(cell)
        if holder is not None and not self.programs[holder].score < member.score:
            return
        if holder is not None:
            self.islands[member.island].pop(holder, None)
            if holder in self.archive:
                del self.archive[holder]
                self.archive[member.program.id] = None
        self.cells[member.island][cell] = member.program.id

    def _enter_archive(self, member: Member) -> None:
        if member.program.id in self.archive:
            return
        if len(self.archive) >= self.parameters.archive:
            worst = min(self.archive, key=lambda name: self.programs[name].score)
            if not self.programs[worst].score < member.score:
                return
            del self.archive[worst]
        self.archive[member.program.id] = None

    def _evict(self, keep: set[str | None]) -> None:
        surplus = len(self.programs) - self.parameters.population
        if surplus <= 0:
            return
        candidates = [name for name in self.programs if name not in keep]
        candidates.sort(key=lambda name: self.programs[name].score)
        for name in candidates[:surplus]:
            member = self.programs.pop(name)
            self.islands[member.island].pop(name, None)
            self.archive.pop(name, None)
            cells = self.cells[member.island]
            self.cells[member.island] = {c: held for c, held in cells.items() if held != name}
        for island, best in enumerate(self.island_best):
            if best is not None and best not in self.islands[island]:
                members = self._by_score(self.islands[island])
                self.island_best[island] = members[0] if members else None

    # --- migration -----------------------------------------------------------------------------

    def _count_generation(self, island: int) -> None:
        self.generations[island] += 1
        newest = max(self.generations)
        if newest - self.last_migration >= self.parameters.migration_interval:
            self._migrate()
            self.last_migration = newest

    def _migrate(self) -> None:
        self.migrations.append(self._t)
        for island in range(ISLANDS):
            members = self._by_score(self.islands[island])
            count = max(1, int(self.parameters.migration_rate * len(members)))
            for name in members[:count]:
                member = self.programs.get(name)
                if member is not None and not member.migrant:
                    for target in ((island + 1) % ISLANDS, (island - 1) % ISLANDS):
                        self._copy_to(member.program, target)

    def _copy_to(self, original: Program, target: int) -> None:
        if any(self.programs[name].program.code == original.code for name in self.islands[target]):
            return
        copy = replace(
            original,
            id=self._copy_id("migrant"),
            parent_id=original.id,
            iteration=0,
            context_ids=(),
            copy_of=original.id,
        )
        self._add(copy, target, migrant=True)

    def _copy_id(self, kind: str) -> str:
        self._copies += 1
        return program_id(self.seed, self._t, self._copies - 1, kind)

    # --- features ------------------------------------------------------------------------------

    def _cell(self, program: Program) -> Cell:
        place = self.complexity.bin(float(len(program.code)))
        if len(self.programs) < 2:
            return place, 0
        return place, self.diversity.bin(self._differences.of(program.code, self._sources))

    def _sources(self) -> list[str]:
        return [member.program.code for member in self.programs.values()]

    # --- small questions -----------------------------------------------------------------------

    def _island(self, name: str) -> int:
        return self.programs[name].island

    def _by_score(self, names: Iterable[str]) -> list[str]:
        """Best first; among equals the older entry first."""
        return sorted(names, key=lambda name: -self.programs[name].score)
