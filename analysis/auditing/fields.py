"""From which field of science a document comes: a map of hosts, and a list of terms.

Coarse on purpose: it proposes cross-domain transfers for a person to confirm. Documents about
programming or optimisation as such belong to no field and are never foreign.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

HOSTS: Mapping[str, str] = {
    "atcoder.jp": "programming contests",
    "codeforces.com": "programming contests",
    "topcoder.com": "programming contests",
    "nasa.gov": "astrodynamics",
    "esa.int": "astrodynamics",
    "esa.github.io": "astrodynamics",
    "poliastro.space": "astrodynamics",
    "biorxiv.org": "biology",
    "medrxiv.org": "biology",
    "pubmed.ncbi.nlm.nih.gov": "biology",
    "bioconductor.org": "biology",
    "scanpy.readthedocs.io": "biology",
    "chemrxiv.org": "chemistry",
    "rdkit.org": "chemistry",
    "pubs.acs.org": "chemistry",
    "oeis.org": "mathematics",
    "mathoverflow.net": "mathematics",
    "math.stackexchange.com": "mathematics",
    "qiskit.org": "quantum computing",
    "quantum.ibm.com": "quantum computing",
    "quantum-journal.org": "quantum computing",
    "huggingface.co": "machine learning",
    "openreview.net": "machine learning",
    "dsp.stackexchange.com": "signal processing",
}
"""Field of a host and of all hosts below it."""

TERMS: Mapping[str, tuple[str, ...]] = {
    "astrodynamics": ("spacecraft", "trajectory design", "flyby", "gravity assist", "delta-v",
                      "orbital", "ephemeris", "interplanetary", "lambert problem"),
    "biology": ("gene", "genes", "single-cell", "protein", "genome", "rna", "species", "tissue",
                "dna", "phylogenetic"),
    "chemistry": ("molecule", "molecules", "reactor", "catalyst", "reaction", "molecular",
                  "crystal", "perovskite", "chemical"),
    "mathematics": ("theorem", "lemma", "conjecture", "combinatorial", "sumset", "autocorrelation",
                    "hadamard matrix", "additive combinatorics", "number theory"),
    "machine learning": ("neural network", "transformer", "language model", "training loss",
                         "deep learning", "scaling law", "gradient descent", "batch size"),
    "operations research": ("vehicle routing", "scheduling", "supply chain", "logistics",
                            "job shop", "bin packing", "facility location"),
    "physics": ("spin glass", "hamiltonian", "lattice", "plasma", "fluid", "ising",
                "thermodynamic", "molecular dynamics"),
    "programming contests": ("atcoder", "heuristic contest", "codeforces", "marathon match"),
    "quantum computing": ("qubit", "qubits", "quantum circuit", "transpiler", "quantum gate",
                          "qiskit", "quantum computing"),
    "signal processing": ("radar", "antenna", "filter design", "sidelobe", "fourier transform",
                          "wireless", "beamforming", "signal processing"),
    "economics": ("portfolio", "auction", "market", "pricing", "econometric"),
    "graphics": ("rendering", "mesh generation", "blue noise", "computer graphics", "voronoi"),
}  # fmt: skip

OWN: Mapping[str, frozenset[str]] = {
    "simple_science": frozenset({"mathematics", "chemistry", "physics"}),
    "quantum_compilation": frozenset({"quantum computing"}),
    "astrodynamics": frozenset({"astrodynamics"}),
    "scientific_algorithms": frozenset({"biology"}),
    "ai_foundations": frozenset({"machine learning"}),
    "algorithm_engineering": frozenset({"programming contests"}),
    "mathematics": frozenset({"mathematics"}),
}
"""Fields that are no other domain, by domain folder of the task."""

_TITLE_WEIGHT = 3
_ENOUGH = 3
_HEAD = 4000
_PATTERNS = {
    field: re.compile(r"\b(?:" + "|".join(map(re.escape, terms)) + r")\b")
    for field, terms in TERMS.items()
}


def field_of(host: str, title: str, text: str) -> str:
    """Field of a document; empty when neither host nor terms decide.

    Terms decide when one field alone has most hits in title (three times) and the text's head, at
    least three, with at least two different terms or one of them in the title.
    """
    labels = host.lower().removeprefix("www.").split(".")
    for start in range(len(labels)):
        field = HOSTS.get(".".join(labels[start:]))
        if field:
            return field
    weights = {field: _weight(pattern, title, text) for field, pattern in _PATTERNS.items()}
    ranked = sorted(weights.values(), reverse=True)
    if ranked[0] < _ENOUGH or ranked[0] == ranked[1]:
        return ""
    return max(weights, key=lambda field: weights[field])


def foreign_field(domain: str, host: str, title: str, text: str) -> str:
    """The field of a document if it is none of the task's own; else empty.

    ``domain`` is the task's folder, as ``mathematics``; an unknown one has no foreign fields.
    """
    own = OWN.get(domain)
    field = field_of(host, title, text)
    return field if own is not None and field and field not in own else ""


def _weight(pattern: re.Pattern[str], title: str, text: str) -> int:
    in_title = pattern.findall(title.lower())
    in_text = pattern.findall(text[:_HEAD].lower())
    if not in_title and len(set(in_text)) < 2:
        return 0
    return _TITLE_WEIGHT * len(in_title) + len(in_text)
