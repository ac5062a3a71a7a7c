"""Models and search backends by the names that users type."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from method.config import ConfigProblem, RunConfig
from method.llm import perturb
from method.llm.scripted import ScriptedModel
from method.protocols import LLM, SearchBackend
from method.retrievers.oracle import read_oracle
from method.search.corpus import Corpus, CorpusDocument


def make_model(name: str) -> LLM:
    """``offline/perturb`` or ``scripted:FILE``. Raises :class:`ConfigProblem` for other names."""
    if name == perturb.NAME:
        return perturb.PerturbingModel()
    kind, _, rest = name.partition(":")
    if kind == "scripted" and rest:
        return ScriptedModel.from_file(Path(rest))
    raise ConfigProblem(
        f"--model {name}: use {perturb.NAME} (no model, answers by chance) or scripted:FILE"
    )


def make_search(config: RunConfig) -> SearchBackend | None:
    """The backend of ``config.search``; ``None`` for retrievers that never search."""
    if config.retriever in ("none", "oracle") or config.search == "none":
        return None
    if config.search == "offline":
        return Corpus(_oracle_corpus())
    folder = Path(config.search)
    if not folder.is_dir():
        raise ConfigProblem(f"--search {config.search}: use offline, none or a folder of texts")
    return Corpus.of_folder(folder)


def _oracle_corpus() -> list[CorpusDocument]:
    documents = []
    folder = resources.files("oracle_docs")
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.endswith(".md"):
            text = file.read_text(encoding="utf-8")
            for number, (head, body) in enumerate(read_oracle(text, file.name)):
                name = f"{file.name}#{number}"
                documents.append(CorpusDocument(name, head.title, body, head.url))
    return documents
