"""No retrieval: the scaffold alone."""

from __future__ import annotations

from method.protocols import Retrieval, RunContext, Selection, Snapshot


class NoRetriever:
    """N candidates in every iteration, no documents, no calls."""

    name = "none"

    async def retrieve(
        self, selection: Selection, snapshot: Snapshot, run: RunContext
    ) -> Retrieval:
        """Nothing to find."""
        return Retrieval(decision=None, n_candidates=run.settings.candidates)
