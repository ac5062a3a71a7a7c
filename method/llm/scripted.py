"""A model that answers from a script: for tests, examples and documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from method.config_sources import read_table
from method.protocols import Completion, Request

Answer = str | Completion
Script = Callable[[Request, int], Answer] | Mapping[str, Sequence[str]]


class ScriptProblem(ValueError):
    """A script that cannot be used; the message says what it lacks."""


class ScriptedModel:
    """Answers by a function of (request, slot), or by lists of texts for each purpose.

    A list is used up in the order of the calls and its last entry is then repeated. A purpose
    without answers is an error of the script: :class:`ScriptProblem`.
    """

    def __init__(self, script: Script, name: str = "scripted") -> None:
        self.name = name
        self._script = script
        self._used: dict[str, int] = {}

    @classmethod
    def from_file(cls, path: Path) -> ScriptedModel:
        """Read a TOML or YAML file: one list of texts for each purpose.

        Raises :class:`ScriptProblem` naming the file.
        """
        try:
            content = read_table(path)
        except ValueError as error:
            raise ScriptProblem(f"{path}: {error}") from None
        for purpose, answers in content.items():
            if (
                not isinstance(answers, list)
                or not answers
                or not all(isinstance(answer, str) for answer in answers)
            ):
                raise ScriptProblem(f"{path}: {purpose}: must be a list of texts")
        return cls(content, name=f"scripted/{path.name}")

    def go_on(self, answered: Mapping[str, int]) -> None:
        """Take up the lists where a run that goes on left them: so many answers by purpose."""
        self._used = dict(answered)

    async def sample(self, request: Request) -> list[Completion]:
        return [self._complete(request, slot) for slot in request.slots]

    def _complete(self, request: Request, slot: int) -> Completion:
        answer = self._script(request, slot) if callable(self._script) else self._next(request)
        if isinstance(answer, Completion):
            return answer
        return Completion(text=answer, finish_reason="stop", cost_usd=0.0, cost_source="table")

    def _next(self, request: Request) -> str:
        assert not callable(self._script)
        answers = self._script.get(request.purpose, ())
        if not answers:
            raise ScriptProblem(
                f"{self.name}: has no answer for calls of purpose {request.purpose}"
            )
        used = self._used.get(request.purpose, 0)
        self._used[request.purpose] = used + 1
        return answers[min(used, len(answers) - 1)]
