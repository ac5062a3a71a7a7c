"""The oracle documents of the 31 tasks: their form, their references and their answers.

A fact or a reference that nobody has compared with its source carries ``verified: false``. The
table ``SEEN`` names the sources of which a copy was seen. Where a document with other sources is
verified all the same, ``test_oracle_facts.py`` computes what these would tell.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from shared_data import REPOSITORY, shared_root

from benchmark import evaluate
from benchmark.artifact import Artifact
from benchmark.catalogue import catalogue, find_task
from benchmark.data import MIRROR_VARIABLE
from benchmark.oracle import OracleDocument, of_level, read_documents

DIRECT = (
    "pressure_vessel", "labs_27", "lj_13", "chwirut2", "perovskites", "feynman_i_27_6", "sindy_2d",
)  # fmt: skip
METHOD = (
    "swap_reduction", "cassini", "galileo", "mariner_10", "rosetta", "voyager_2", "denoising",
    "domain_mixture", "u_shape", "lr_bsz", "parallel", "ahc039", "ahc058", "erdos", "ac1", "ac2",
    "ac3", "cp26", "cp32", "hadamard29", "sums_diffs",
)  # fmt: skip
NAMES = (*DIRECT, "batch_reactor", "guacamol", "baumgartner", *METHOD)
ALSO_INFERENTIAL = ("lj_13", "sindy_2d")
NEEDS_DATA = {"perovskites", "baumgartner"}
TOLERANCE = 1e-9

SEEN = frozenset({
    # The release's own documents and what the task definitions cite.
    "arXiv:1403.7793", "doi:10.1073/pnas.1517384113", "arXiv:1512.02475", "CSPLib 005",
    "arXiv:2003.12127", "doi:10.1088/2632-2153/abedc8", "arXiv:2206.10540", "equation I.27.6",
    "J. Cheminformatics 13 (2021) 48", "networkx 3.3", "doi:10.1002/cmtd.202000051",
    "doi:10.1021/acs.oprd.9b00236", "Processes 6(8) (2018) 106", "DYNOPT user guide",
    "page: https://gryffin.readthedocs.io/en/latest/tutorials/perovskites.html",
    "https://pysindy.readthedocs.io/en/latest/examples/sindy-original-example/30f4dcd/original_paper.html",
    "https://pysindy.readthedocs.io/en/stable/tips.html",
    "https://www.apmonitor.com/wiki/index.php/Apps/BatchReactor",
    "https://www.itl.nist.gov/div898/strd/nls/data/LINKS/DATA/Chwirut2.dat",
    "https://www-wales.ch.cam.ac.uk/~jon/structures/LJ/points/13",
    "https://www-wales.ch.cam.ac.uk/~jon/forest/LJ.html",
    # Pages kept by recorded runs, and identifiers seen in a copy of the source.
    "arXiv:2409.08368", "arXiv:2605.21960", "Qiskit/qiskit#13016", "rs-10631214",
    "https://github.com/Qiskit/qiskit/blob/main/qiskit/transpiler/passes/routing/sabre_swap.py",
    "https://quantum.cloud.ibm.com/docs/api/qiskit/qiskit.transpiler.passes.SabreSwap",
    "https://www.esa.int/gsp/ACT/projects/gtop/", "arXiv:1403.2705", "arXiv:2010.07517",
    "https://esa.github.io/pagmo/mga__dsm_8cpp_source.html", "arXiv:2503.04715",
    "http://www.neutreeko.net/mop.htm",
    "https://github.com/togethercomputer/EinsteinArena-new-SOTA",
    "https://einsteinarena.com/problems/erdos-min-overlap",
    "https://github.com/techno-optimist/erdos-minimum-overlap-bound",
    "arXiv:2511.23473", "https://github.com/ypwang61/ThetaEvolve", "openevolve#156",
    "arXiv:2605.04850", "arXiv:math/0401179", "arXiv:2506.01896",
})  # fmt: skip

CHECKED = frozenset({"galileo", "mariner_10", "voyager_2", "lj_13"})
"""Verified documents with sources that nobody has seen; see ``test_oracle_facts.py``."""

DOCUMENTS = [
    pytest.param(name, document, id=f"{name}-{document.level}-{number}")
    for name in NAMES
    for number, document in enumerate(read_documents(name), start=1)
]
every_document = pytest.mark.parametrize(("name", "document"), DOCUMENTS)


def prose(document: OracleDocument) -> str:
    """The body without the block at its end."""
    return re.sub(r"```json\n.*\n```", "", document.body, flags=re.DOTALL)


def mirrored(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take third-party data from the shared folder; skips a task that has no other place."""
    root = shared_root()
    if root is not None:
        monkeypatch.setenv(MIRROR_VARIABLE, str(root / "data"))
    elif name in NEEDS_DATA:
        pytest.skip(f"the data of {name} are not there: no shared folder (EVODUET_SHARED)")


# ------------------------------------------------------------------------------------------- form


def test_there_is_one_file_for_each_task() -> None:
    files = {file.stem for file in (REPOSITORY / "oracle_docs").glob("*.md")}
    assert files == set(NAMES)
    assert len(NAMES) == 31
    assert {task.name for task in catalogue().values()} <= files


@pytest.mark.parametrize("name", NAMES)
def test_levels_and_kinds_of_a_file(name: str) -> None:
    found = [(document.level, document.kind) for document in read_documents(name)]
    direct, inferential = ("direct", "solution"), ("inferential", "method")
    if name in DIRECT:
        assert found == [direct, inferential] if name in ALSO_INFERENTIAL else [direct]
    else:
        assert set(found) == {inferential}
    given = of_level(read_documents(name))
    assert {document.level for document in given} == {"direct" if name in DIRECT else "inferential"}


@every_document
def test_body_is_short_and_self_contained(name: str, document: OracleDocument) -> None:
    assert len(prose(document).split()) >= 150
    assert len(document.body.split()) <= 600
    assert len(document.body) < 10_000  # nothing is cut when a model gets it
    assert not re.search(r"https?://", document.body)  # references stand in the block
    assert document.url.startswith("http")


@every_document
def test_words_are_our_own(name: str, document: OracleDocument) -> None:
    """No long run of words stands in the task's instructions or in our notes on the sources."""
    known = runs_of_notes()
    for task in catalogue().values():
        if task.name == name:
            known |= runs(task.instructions)
    assert sorted(runs(prose(document)) & known) == []


@cache
def runs_of_notes() -> frozenset[tuple[str, ...]]:
    """The runs of words of the specifications, where they are at hand."""
    root = shared_root()
    files = (root / "specs").glob("*.md") if root is not None else ()
    return frozenset().union(*(runs(file.read_text(encoding="utf-8")) for file in files))


def runs(text: str, length: int = 12) -> frozenset[tuple[str, ...]]:
    """All runs of ``length`` words in the prose of a text; formulas and tables are no prose."""
    found: set[tuple[str, ...]] = set()
    for paragraph in re.split(r"\n\s*\n", re.sub(r"^(    |\|).*$", "\n\n", text, flags=re.M)):
        words = re.findall(r"[a-z]{2,}", paragraph.lower())
        found |= {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}
    return frozenset(found)


@every_document
def test_what_nobody_compared_is_marked(name: str, document: OracleDocument) -> None:
    unseen = [
        source for source in document.sources if not {source.id, source.url, source.title} & SEEN
    ]
    assert [source for source in document.sources if not source.verified] == unseen
    if unseen:
        assert document.verified == (name in CHECKED)


# ---------------------------------------------------------------------------------------- answers


@pytest.mark.parametrize("name", DIRECT)
def test_a_direct_document_states_the_anchor(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mirrored(name, monkeypatch)
    (document,) = of_level(read_documents(name), "direct")
    evaluation = evaluate(name, artifact=Artifact(document.answer))
    assert evaluation.valid, evaluation.reason
    assert evaluation.objective is not None
    assert evaluation.objective >= find_task(name).declared.anchors.sota.value - TOLERANCE


def test_the_row_of_the_summit_table_is_the_anchor(monkeypatch: pytest.MonkeyPatch) -> None:
    mirrored("baumgartner", monkeypatch)
    (document,) = read_documents("baumgartner")
    row = re.search(
        r"ligand (\w+) with the base (\w+), ([\d.]+) base equivalents, ([\d.]+) degrees Celsius "
        r"and a residence time of ([\d.]+) seconds",
        " ".join(document.body.split()),
    )
    assert row is not None
    conditions: dict[str, Any] = {"catalyst": row[1], "base": row[2]}
    names = ("base_equivalents", "temperature", "t_res")
    conditions |= {key: float(row[i]) for i, key in enumerate(names, start=3)}
    score = evaluate("baumgartner", artifact=Artifact(conditions)).objective
    assert score is not None
    assert score >= find_task("baumgartner").declared.anchors.sota.value - 2e-6  # float32
    assert f"it gives {score:.5f}" in " ".join(document.body.split())


@every_document
def test_an_inferential_document_holds_no_construction(name: str, document: OracleDocument) -> None:
    if document.level == "direct":
        return
    assert document.answer is None
    assert "```" not in document.body
    assert not re.search(r"^\s*(def|import|from|class|for|#include)\b.*[:;>]$", document.body, re.M)
    assert not re.search(r"(-?\d+(\.\d+)?[, ]+){6}", document.body)  # a row of bare numbers


def test_inferential_twins_do_not_give_the_answer_away() -> None:
    (cluster,) = of_level(read_documents("lj_13"), "inferential")
    assert not re.search(r"\d\.\d", cluster.body)
    (library,) = of_level(read_documents("sindy_2d"), "inferential")
    assert not re.search(r"\d", library.body)
    for document in read_documents("guacamol"):
        assert not re.search(r"C[C()]{3,}", document.body)
