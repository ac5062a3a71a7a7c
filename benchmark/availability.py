"""What a task needs and whether this machine has it."""

from __future__ import annotations

import importlib.util
import shutil
from dataclasses import dataclass

from benchmark.data import data_store, remedy
from benchmark.task import Task


@dataclass(frozen=True)
class Availability:
    """Whether a task can be evaluated here, on which data variant, and what is missing."""

    available: bool
    variant: str
    missing: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """A few words for a table."""
        if not self.available:
            return "unavailable: " + "; ".join(self.missing)
        if self.variant != "official":
            return f"ready ({self.variant} data, not comparable)"
        return "ready"


def missing_parts(task: Task) -> list[str]:
    """Libraries and tools that the task needs and this machine lacks, each with what to do."""
    declared = task.declared
    missing = [
        f"library {module} (pip install 'evoduet[all]')"
        for module in declared.requires
        if importlib.util.find_spec(module) is None
    ]
    missing += [
        f"{command} (install it; see `evoduet doctor`)"
        for command in declared.toolchain
        if shutil.which(command) is None
    ]
    return missing


def availability(task: Task) -> Availability:
    """Look for libraries, tools and data of one task; never touches the network."""
    missing = missing_parts(task)
    data = data_store().status(task)
    if data.variant is None:
        names = ", ".join(state.file.name for state in data.missing)
        missing.append(f"data {names} ({remedy(data.missing[0], task)})")
    variant = data.variant or task.declared.variants[0]
    return Availability(not missing, variant, tuple(missing))
