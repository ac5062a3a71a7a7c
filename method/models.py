"""Models and search backends by the names that users type."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from benchmark.oracle import PACKAGE, read_documents
from method.config import ConfigProblem, RunConfig
from method.llm import perturb
from method.llm.pricing import Prices
from method.llm.scripted import ScriptedModel
from method.protocols import LLM, Sampling, SearchBackend
from method.search.corpus import Corpus, CorpusDocument


def make_model(config: RunConfig, prices: Prices, frozen: Mapping[str, Any] | None = None) -> LLM:
    """``offline/perturb``, ``scripted:FILE``, or any model that litellm reaches.

    ``frozen``: what the manifest of a run that goes on says of its model. Raises
    :class:`ConfigProblem`.
    """
    name = config.model
    if name == perturb.NAME:
        return perturb.PerturbingModel()
    if name.startswith("offline/"):
        raise ConfigProblem(f"--model {name}: there is no such stand-in, but {perturb.NAME}")
    kind, colon, rest = name.partition(":")
    if kind == "scripted" and colon:
        return ScriptedModel.from_file(Path(rest))
    from method.llm.litellm_model import LiteLLMModel

    return LiteLLMModel(
        name,
        config.client,
        price=prices.of_model(name),
        sampling=Sampling(**config.sampling.model_dump()),
        frozen=frozen,
    )


def make_search(config: RunConfig, prices: Prices) -> SearchBackend | None:
    """The backend of ``config.search``; ``None`` for retrievers that never search."""
    if not searches(config):
        return None
    if config.search == "offline":
        return Corpus(_oracle_corpus())
    if config.search == "tavily":
        from method.search.tavily import TavilySearch

        return TavilySearch(
            config.web,
            raw_content=config.resolved_rules().search_raw_content,
            price=prices.of_search("tavily"),
        )
    folder = Path(config.search)
    if not folder.is_dir():
        raise ConfigProblem(
            f"--search {config.search}: use tavily, offline, none or a folder of texts"
        )
    return Corpus.of_folder(folder)


def searches(config: RunConfig) -> bool:
    """Whether the method of a run ever searches."""
    return config.retriever not in ("none", "oracle") and config.search != "none"


def _oracle_corpus() -> list[CorpusDocument]:
    documents = []
    for file in sorted(resources.files(PACKAGE).iterdir(), key=lambda entry: entry.name):
        name, _, suffix = file.name.rpartition(".")
        if suffix == "md":
            for number, document in enumerate(read_documents(name), start=1):
                identity = f"oracle:{name}:{number}"
                documents.append(
                    CorpusDocument(identity, document.title, document.body, document.url)
                )
    return documents
