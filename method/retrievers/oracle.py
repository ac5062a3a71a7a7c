"""The oracle: the same given documents in every iteration (format: benchmark/oracle.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmark.oracle import OracleDocument
from method.protocols import GivenDocument, Retrieval, RunContext, Selection, Snapshot
from method.rules import BODY_LIMIT


class Oracle:
    """Gives the same documents every time, N candidates, no calls."""

    name = "oracle"

    def __init__(self, documents: Sequence[GivenDocument]) -> None:
        self._documents = tuple(
            replace(document, doc_id=f"r{number:07d}", first_retrieved_t=0)
            for number, document in enumerate(documents, start=1)
        )

    async def retrieve(
        self, selection: Selection, snapshot: Snapshot, run: RunContext
    ) -> Retrieval:
        """All documents in file order."""
        return Retrieval(None, self._documents, run.settings.candidates)


def given_documents(name: str, documents: Sequence[OracleDocument]) -> list[GivenDocument]:
    """Oracle documents of the task ``name`` as a retriever gives them, in file order."""
    return [
        GivenDocument(
            title=document.title,
            url=document.url,
            provider_id=f"oracle:{name}:{number}",
            snippet=document.body[:BODY_LIMIT],
            raw=None,
        )
        for number, document in enumerate(documents, start=1)
    ]
