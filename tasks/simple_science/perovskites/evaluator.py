"""Composition of a hybrid perovskite (minimise the HSE06 band gap, in eV).

Data set ``perovskites`` of OLYMPUS (MIT): F. Hase et al., Mach. Learn.: Sci. Technol. 2 (2021)
035021. One noise-free gap for each of 16 x 3 x 4 compositions; candidates never see the table.
"""

from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from benchmark.artifact import Artifact, Plain
from benchmark.candidates import PayloadSolver
from benchmark.data import data_file
from benchmark.evaluator import Invalid, Score, Setup, Stage
from tasks.simple_science import answers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARAMETERS = {"organic": 16, "cation": 3, "anion": 4}
REFERENCE_GAP_EV = 1.5249  # combined score 1; the smallest gap in the table

Composition = tuple[str, ...]


class PerovskiteComposition(PayloadSolver):
    """``solve`` returns ``{"organic": ..., "cation": ..., "anion": ...}``."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.options = read_options(data_file(setup, "config.json"))
        self.gaps = read_gaps(data_file(setup, "data.csv"), self.options)

    def payload(self) -> dict[str, Plain]:
        parameters: list[Plain] = [
            {"name": name, "options": list(options)} for name, options in self.options.items()
        ]
        objective: Plain = {"name": "hse_gap", "direction": "minimize", "units": "eV"}
        return {"parameters": parameters, "objective": objective}

    def score(self, artifact: Artifact, stage: Stage) -> Score:
        chosen = self.composition(artifact)
        gap = self.gaps[chosen]
        combined = REFERENCE_GAP_EV / gap
        feedback = f"{' / '.join(chosen)}: HSE06 band gap {gap:g} eV"
        return Score(combined, combined, {"bandgap_ev": gap}, feedback)

    def composition(self, artifact: Artifact) -> Composition:
        """The chosen options in the order of the parameters; raises :class:`Invalid`."""
        values = answers.fields(answers.answer(artifact), *PARAMETERS)
        chosen = []
        for name, value in zip(PARAMETERS, values, strict=True):
            option = answers.text(value, name)
            if option not in self.options[name]:
                raise Invalid(f"{name} must be one of its options; got {answers.shown(option)}")
            chosen.append(option)
        return tuple(chosen)

    def draw(self, artifact: Artifact, figure: Figure) -> None:
        chosen = self.composition(artifact)
        organics = self.options["organic"]
        columns = list(product(self.options["cation"], self.options["anion"]))
        axes = figure.subplots()
        image = axes.imshow(
            [[self.gaps[organic, *column] for column in columns] for organic in organics],
            cmap="viridis",
            aspect="auto",
        )
        figure.colorbar(image, label="HSE06 band gap (eV)")
        place = columns.index((chosen[1], chosen[2])), organics.index(chosen[0])
        axes.plot(*place, "s", markersize=13, color="red", fillstyle="none", markeredgewidth=2)
        axes.set_xticks(range(len(columns)), ["-".join(column) for column in columns], rotation=60)
        axes.set_yticks(range(len(organics)), organics)
        axes.set_title(f"{' / '.join(chosen)}: {self.gaps[chosen]:g} eV")


def read_options(path: Path) -> dict[str, list[str]]:
    """The options of each parameter in the order of the file; ``ValueError`` if not as known."""
    parameters = json.loads(path.read_text(encoding="utf-8"))["parameters"]
    options = {parameter["name"]: parameter["options"] for parameter in parameters}
    if {name: len(set(values)) for name, values in options.items()} != PARAMETERS:
        raise ValueError(f"{path.name}: expected 16 organics, 3 cations and 4 anions")
    return options


def read_gaps(path: Path, options: dict[str, list[str]]) -> dict[Composition, float]:
    """Gaps by composition; ``ValueError`` unless each composition has exactly one positive gap."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = [(tuple(row[:3]), float(row[3])) for row in csv.reader(lines)]
    gaps = dict(rows)
    if len(gaps) != len(rows) or gaps.keys() != set(product(*options.values())):
        raise ValueError(f"{path.name}: some composition is missing, unknown or given twice")
    if not all(gap > 0 for gap in gaps.values()):
        raise ValueError(f"{path.name}: some band gap is not positive")
    return gaps


EVALUATOR = PerovskiteComposition
