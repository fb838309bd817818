"""From requests to pieces: what the model is made to do, and no more."""

from __future__ import annotations

import time
from typing import Any

import torch

from inference.completions.planning import plan
from inference.completions.reading import Reader
from inference.completions.running import run
from inference.completions.settings import CompletionSettings
from inference.completions.values import gather
from inference.engine.types import SamplingParams
from inference.limits import Limits
from tests.fakes import PADDING_ROWS, scripted_engine, tiny_tokenizer

PLENTY = 60.0


async def complete(serving, prompts, **asked):
    defaults: dict[str, Any] = {"sampling": SamplingParams(seed=3), "max_tokens": 20}
    settings = CompletionSettings(ignore_eos=True, **defaults | asked)
    requests = plan(
        prompts,
        settings,
        vocabulary=serving.engine.vocabulary,
        context_length=512,
        limits=Limits(),
    )
    return await gather(
        run(
            requests,
            serving=serving,
            new_reader=lambda: Reader(settings.stop),
            echo=settings.echo,
            max_waiting=0,
            deadline=time.monotonic() + PLENTY,
        )
    )


def one_of_two_then_c(place):
    """An even draw between a and b, then c for ever."""
    drawn = [97, 98] if place == 0 else [99]
    rows = len(tiny_tokenizer()) + PADDING_ROWS
    return torch.full((rows,), -1e4).index_fill(0, torch.tensor(drawn), 0.0)


async def test_a_choice_that_has_stopped_costs_the_model_no_more(install):
    serving = install(scripted_engine(one_of_two_then_c))
    pieces, usage = await complete(serving, [(97,)], num_choices=4, stop=("a",))
    stopped = [piece for piece in pieces if piece.finish_reason == "stop"]
    went_on = [piece for piece in pieces if piece.finish_reason == "length"]
    assert (len(stopped), len(went_on)) == (3, 1)  # which this seed draws
    assert went_on[0].text == "b" + 19 * "c"
    assert usage.completion_tokens == 3 * 1 + 20
    serving.close()
    # The prompt, 19 tokens of the choice that goes on, and of the others what was under way.
    assert serving.engine._decoder.passes <= 1 + 19 + 3 * 5


async def test_a_batch_needs_one_place_and_keeps_it(install):
    serving = install("ab")
    pieces, usage = await complete(
        serving, [(97,), (98, 99), (100,)], sampling=SamplingParams(temperature=0), max_tokens=2
    )
    assert [piece.text for piece in pieces] == ["ab"] * 3
    assert [piece.choice for piece in pieces] == [0, 1, 2]
    assert (usage.prompt_tokens, usage.completion_tokens) == (4, 6)
    serving.close()
    assert serving.in_flight() == (0, 0)
