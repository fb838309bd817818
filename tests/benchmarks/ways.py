"""The ways to a trace that run in this process: ours, and two over transformers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Protocol

import torch

from inference.engine.engine import ModelEngine
from inference.engine.types import GenerationRequest, SamplingParams, Step
from tests.benchmarks.figures import TOP, Trace

GREEDY = SamplingParams(temperature=0.0)


class Way(Protocol):
    name: str

    def trace(self, prompt_ids: Sequence[int], new_tokens: int) -> Trace:
        """A greedy trace; the end of a text does not end it."""
        ...


def milliseconds() -> float:
    return time.perf_counter() * 1000


class EngineWay:
    """The engine as the server uses it, over some decoder."""

    def __init__(self, name: str, engine: ModelEngine) -> None:
        self.name = name
        self.engine = engine

    def trace(
        self,
        prompt_ids: Sequence[int],
        new_tokens: int,
        *,
        sampling: SamplingParams = GREEDY,
        owner: str | None = None,
    ) -> Trace:
        request = GenerationRequest(
            prompt_ids=tuple(prompt_ids),
            max_tokens=new_tokens,
            sampling=sampling,
            num_candidates=TOP,
            ignore_eos=True,
            owner=owner,
        )
        begun = milliseconds()
        at, steps = [], []
        generation = self.engine.open(request)
        while not generation.has_ended:
            (outcome,) = self.engine.turn([generation])
            if isinstance(outcome, Exception):
                raise outcome
            for event in outcome:
                assert isinstance(event, Step)
                at.append(milliseconds() - begun)
                steps.append(event)
        self.engine.release(generation)
        return Trace(
            first_ms=at[0],
            whole_ms=at[-1],
            token_ids=tuple(step.token_id for step in steps),
            top=tuple(
                {c.token_id: float(torch.tensor(c.logprob).exp()) for c in step.candidates}
                for step in steps
            ),
        )


class GenerateWay:
    """`generate` of transformers, with a softmax and its top tokens at each step."""

    def __init__(self, name: str, model: Any) -> None:
        self.name = name
        self._model = model

    @torch.inference_mode()
    def trace(self, prompt_ids: Sequence[int], new_tokens: int) -> Trace:
        at: list[float] = []
        top: list[dict[int, float]] = []

        def look(_ids: torch.Tensor, logits: torch.Tensor) -> torch.Tensor:
            best = logits[0].softmax(-1).topk(TOP)
            top.append(dict(zip(best.indices.tolist(), best.values.tolist(), strict=True)))
            at.append(milliseconds() - begun)
            return logits

        ids = torch.tensor([list(prompt_ids)])
        begun = milliseconds()
        output = self._model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=new_tokens,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
            logits_processor=[look],
        )
        whole = milliseconds() - begun
        return Trace(
            first_ms=at[0],
            whole_ms=whole,
            token_ids=tuple(output[0, len(prompt_ids) :].tolist()),
            top=tuple(top),
        )


@torch.inference_mode()
def error_of(trace: Trace, prompt_ids: Sequence[int], model: Any) -> float:
    """The largest difference of a probability from the float32 model's, over a trace's own text."""
    ids = torch.tensor([[*prompt_ids, *trace.token_ids[:-1]]])
    exact = model(ids).logits[0, len(prompt_ids) - 1 :].double().softmax(-1)
    return max(
        abs(probability - float(row[token_id]))
        for row, step in zip(exact, trace.top, strict=True)
        for token_id, probability in step.items()
    )
