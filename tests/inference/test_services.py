"""The verb: a request in, a trace or one named error out."""

from __future__ import annotations

import asyncio
import math
import time

import pytest
import torch

from inference.errors import Busy, InferenceFailed, InvalidRequest, PromptTooLong, TimedOut
from inference.limits import Limits
from inference.services import run_trace
from inference.traces import TraceRequest
from tests.fakes import CARD, scripted_engine
from tests.gates import Gate


async def trace(serving, prompt="The moon", *, limits=None, arrived_at=None, **asked):
    return await run_trace(
        TraceRequest(prompt=prompt, **asked),
        runtime=serving,
        limits=limits or Limits(),
        arrived_at=time.monotonic() if arrived_at is None else arrived_at,
    )


@pytest.fixture
def gate():
    return Gate()


@pytest.fixture
def held(install, gate):
    """A model whose every pass waits for a permit."""
    yield install(scripted_engine("held still", gate=gate))
    gate.open()


async def test_a_trace_is_what_the_model_said_and_how_sure_it_was(install):
    made = await trace(install(" is the moon"), " the cat", max_new_tokens=8, top_k=4)
    assert made.generated_text == " is the moon"
    assert made.finish_reason == "eos"
    assert [step.index for step in made.steps] == [0, 1, 2, 3]
    assert made.model == CARD
    for step in made.steps:
        assert math.exp(step.logprob) == pytest.approx(0.5, abs=0.01)
        assert len(made.alternatives(step)) == 4
        assert step.token_id not in {c.token_id for c in made.alternatives(step)}


async def test_without_an_end_the_trace_has_the_tokens_asked_for(install):
    made = await trace(install("abcdefgh"), max_new_tokens=3)
    assert (made.generated_text, made.finish_reason, len(made.steps)) == ("abc", "length", 3)


async def test_what_is_listed_and_the_remainder_are_everything(install):
    made = await trace(install("abcdefgh"), temperature=1.5, seed=3, top_k=6)
    rows = made.vocabulary.rows
    for step in made.steps:
        listed = [step.logprob, *(c.logprob for c in made.alternatives(step))]
        rest = made.remainder(step)
        assert sum(map(math.exp, listed)) + rest.mass == pytest.approx(1)
        assert len(listed) + rest.tokens == rows


async def test_times_are_counted_from_arrival_and_never_go_back(install):
    arrived_at = time.monotonic() - 5
    made = await trace(install("abcdefgh"), max_new_tokens=4, arrived_at=arrived_at)
    elapsed = [made.elapsed_ms(step) for step in made.steps]
    assert elapsed[0] >= 5000
    assert elapsed == sorted(elapsed)
    assert made.total_trace_ms >= elapsed[-1]
    for step in made.steps:
        assert 0 <= made.step_ms(step) <= made.elapsed_ms(step)


async def test_limits_are_checked_before_the_model_is_asked(held):
    for limits, error in (
        (Limits(max_new_tokens=15), InvalidRequest),
        (Limits(max_prompt_characters=3), InvalidRequest),
        (Limits(max_alternatives=4), InvalidRequest),
        (Limits(max_prompt_tokens=1), PromptTooLong),
    ):
        with pytest.raises(error):
            await trace(held, "The moon", limits=limits)
    assert held.in_flight() == (0, 0)


async def test_the_places_in_force_hold(held, gate):
    first = asyncio.create_task(trace(held, limits=Limits(max_waiting=0)))
    assert await asyncio.to_thread(gate.reached.acquire, timeout=60)
    with pytest.raises(Busy):
        await trace(held, limits=Limits(max_waiting=0))
    gate.open()
    await first


async def test_the_deadline_counts_from_arrival(held):
    with pytest.raises(TimedOut):
        await trace(held, arrived_at=time.monotonic() - 29.9)


async def test_a_caller_that_is_cancelled_frees_the_model(held, gate):
    leaving = asyncio.create_task(trace(held))
    assert await asyncio.to_thread(gate.reached.acquire, timeout=60)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    gate.open()
    await trace(held, max_new_tokens=1)
    assert held.in_flight() == (0, 0)


async def test_a_failure_of_the_model_is_named_and_the_next_trace_is_made(install):
    rows = scripted_engine("").vocabulary.rows
    failures = [RuntimeError("secret")]
    serving = install(scripted_engine(lambda n: failures.pop() if failures else torch.zeros(rows)))
    with pytest.raises(InferenceFailed):
        await trace(serving)
    assert len((await trace(serving, max_new_tokens=2)).steps) == 2
