"""``offline/perturb``: no model at all, but answers in every format of the protocol.

A candidate is the parent with one or two of its numbers changed; gate, query and scoring answers
are drawn by chance. Everything is a function of the request, so runs repeat exactly. It is there so
that a run works on a fresh machine and in CI; what it finds says nothing about any model.
"""

from __future__ import annotations

import hashlib
import json
import random
import re

from method.protocols import Completion, Request

NAME = "offline/perturb"
NOTICE = "offline/perturb is not a model: it perturbs numbers of the parent program by chance"

_NUMBER = re.compile(r"(?<![\w.])(\d+\.\d*|\d+)(?![\w.])")
_WORD = re.compile(r"[a-z]{5,}")
_REFERENCE = re.compile(r"^doc_id: (evidence_\d+)$", re.MULTILINE)
_PARENT_SCORE = re.compile(r"\[Actual Current Program Evaluator Score\]\n(\S+)")
_DOCUMENT_ID = re.compile(r'search_document_id: "(doc_\d{6})"')
_PROGRAM = re.compile(r"^# Current program\n.*?^(`{3,})\w*\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(
    r"EVOLVE-BLOCK-START[^\n]*\n(.*?)^[^\n]*EVOLVE-BLOCK-END", re.DOTALL | re.MULTILINE
)


class PerturbingModel:
    """The stand-in as an :class:`~method.protocols.LLM`."""

    name = NAME

    async def sample(self, request: Request) -> list[Completion]:
        return [self._complete(request, slot) for slot in request.slots]

    def _complete(self, request: Request, slot: int) -> Completion:
        prompt = "\n".join(str(message["content"]) for message in request.messages)
        digest = hashlib.sha256(f"{request.purpose}:{slot}:{prompt}".encode(errors="replace"))
        draw = random.Random(digest.hexdigest())
        writers = {
            "gate": _gate,
            "query": _query,
            "scoring": _scoring,
            "generation": _generation,
            "joint": _generation,
        }
        write = writers.get(request.purpose, _prose)
        return Completion(
            text=write(prompt, draw), finish_reason="stop", cost_usd=0.0, cost_source="table"
        )


def _prose(prompt: str, draw: random.Random) -> str:
    return "Known: the current program. Unknown: whether other numbers in it score higher."


def _gate(prompt: str, draw: random.Random) -> str:
    ids = _DOCUMENT_ID.findall(prompt)
    decision = draw.choice(["no-op", "retrieve", "look-up"] if ids else ["no-op", "retrieve"])
    return json.dumps(
        {
            "knowledge_state_analysis": _prose(prompt, draw),
            "decision": decision,
            "reasoning": "drawn by chance",
            "search_document_ids": ids[:1] if decision == "look-up" else [],
        }
    )


def _query(prompt: str, draw: random.Random) -> str:
    words = sorted(set(_WORD.findall(prompt.lower())))
    chosen = draw.sample(words, min(4, len(words)))
    return json.dumps(
        {
            "query": " ".join(chosen),
            "keywords": chosen[:2],
            "resources": ["paper"],
            "query_intent": "see what the corpus holds",
            "rationale": "words of the prompt, drawn by chance",
        }
    )


def _scoring(prompt: str, draw: random.Random) -> str:
    found = _PARENT_SCORE.search(prompt)
    score = float(found.group(1)) if found else 0.0
    blocks = prompt.split("[[Observed Document: ")[1:]
    unscored = [block for block in blocks if "\nestimated_child_score:" not in block]
    predictions = [
        {
            "evidence_ref": found.group(1),
            "estimated_child_score": score + draw.uniform(-0.05, 0.1) * (abs(score) + 0.1),
        }
        for block in unscored
        if (found := _REFERENCE.search(block))
    ]
    return json.dumps(
        {"document_predictions": predictions, "knowledge_state_analysis": _prose(prompt, draw)}
    )


def _generation(prompt: str, draw: random.Random) -> str:
    found = _PROGRAM.search(prompt)
    if found is None:
        return "There is no current program in the prompt."
    program = found.group(2).removesuffix("\n")
    editable = _BLOCK.search(program)
    first, last = editable.span(1) if editable else (0, len(program))
    places = [match for match in _NUMBER.finditer(program, first, last) if not _in_comment(match)]
    if not places:
        return "There is no number to change."
    chosen = draw.sample(places, min(draw.choice([1, 1, 2]), len(places)))
    if "<<<<<<< SEARCH" not in prompt:
        fence = found.group(1)
        return f"Other numbers.\n\n{fence}\n{_changed(program, chosen, draw)}\n{fence}"
    return "Other numbers.\n\n" + "\n\n".join(_diff(program, match, draw) for match in chosen[:1])


def _in_comment(match: re.Match[str]) -> bool:
    line = match.string[: match.start()].rpartition("\n")[2]
    return "#" in line or "//" in line


def _other(number: str, draw: random.Random) -> str:
    if "." in number:
        return repr(float(number) * (1 + draw.choice([-1, 1]) * 10 ** draw.uniform(-4, -0.5)))
    return str(max(0, int(number) + draw.choice([-1, 1])))


def _changed(program: str, places: list[re.Match[str]], draw: random.Random) -> str:
    for match in sorted(places, key=lambda match: -match.start()):
        number = _other(match.group(), draw)
        program = program[: match.start()] + number + program[match.end() :]
    return program


def _diff(program: str, match: re.Match[str], draw: random.Random) -> str:
    start = program.rfind("\n", 0, match.start()) + 1
    end = program.find("\n", match.end())
    line = program[start : end if end >= 0 else len(program)]
    new = line[: match.start() - start] + _other(match.group(), draw) + line[match.end() - start :]
    return f"<<<<<<< SEARCH\n{line}\n=======\n{new}\n>>>>>>> REPLACE"
