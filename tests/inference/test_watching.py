"""What a caller may hear and do beside taking steps: its place, stopping, leaving for good."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from inference.engine.types import GenerationRequest, SamplingParams, Step
from inference.jobs import QueuePlace
from inference.runtime import Runtime
from tests.fakes import CARD, scripted_engine
from tests.gates import Gate, Watched

PLENTY = 60.0


class Noting(Watched):
    """An engine that notes what is released and who is forgotten, in order."""

    def __init__(self, engine):
        super().__init__(engine)
        self.notes = []

    def release(self, generation):
        super().release(generation)
        self.notes.append(("released", generation.request.owner))

    def forget(self, owner):
        super().forget(owner)
        self.notes.append(("forgotten", owner))


@pytest.fixture
def gate():
    return Gate()


@pytest.fixture
def noting(gate):
    return Noting(scripted_engine("a long text to say", gate=gate))


@pytest.fixture
def held(noting, gate):
    """A runtime whose model is held by the gate."""
    serving = Runtime(CARD, lambda: noting, on_failure=lambda error: None)
    serving.wait_until_loaded()
    yield serving
    gate.open()
    serving.close()


def watch(serving, tokens=1, *, owner=None):
    request = GenerationRequest(
        prompt_ids=(97,),
        max_tokens=tokens,
        num_candidates=1,
        sampling=SamplingParams(temperature=0.0),
        owner=owner,
    )
    return serving.submit_and_watch(request, max_waiting=8, deadline=time.monotonic() + PLENTY)


async def reached(gate):
    assert await asyncio.to_thread(gate.reached.acquire, timeout=PLENTY)


async def heard(events):
    """The places and the indices of steps, in order."""
    return [
        f"place {event.position}" if isinstance(event, QueuePlace) else event.index
        async for event in events
    ]


async def test_who_need_not_wait_is_with_the_model_at_once(held, gate):
    gate.open()
    assert await heard(watch(held, 2)) == ["place 0", 0, 1]


async def test_who_waits_hears_each_place_once(held, gate):
    running = watch(held)
    await reached(gate)
    second, third, fourth = watch(held), watch(held), watch(held)
    await second.aclose()
    gate.open()
    assert await heard(running) == ["place 0", 0]
    assert await heard(third) == ["place 2", "place 1", "place 0", 0]
    assert await heard(fourth) == ["place 3", "place 2", "place 1", "place 0", 0]


async def test_who_does_not_watch_hears_steps_alone(held, gate):
    watch(held)
    request = GenerationRequest(
        prompt_ids=(97,), max_tokens=1, num_candidates=1, sampling=SamplingParams()
    )
    events = held.submit(request, max_waiting=8, deadline=time.monotonic() + PLENTY)
    gate.open()
    assert [type(event) async for event in events] == [Step]


async def test_stopping_keeps_the_step_that_is_being_made_and_ends(held, gate):
    events = watch(held, 10)
    await reached(gate)
    gate.release()
    await reached(gate)
    events.stop()
    gate.release()
    assert await heard(events) == ["place 0", 0, 1]
    assert held.in_flight() == (0, 0)


async def test_stopping_what_waits_ends_it_at_once(held, gate):
    watch(held)
    await reached(gate)
    waiting = watch(held)
    waiting.stop()
    assert await heard(waiting) == ["place 1"]
    assert held.in_flight() == (1, 0)


async def test_what_ended_and_what_was_given_up_are_both_released(held, gate, noting):
    ended, left = watch(held, owner="ended"), watch(held, 10, owner="left")
    await reached(gate)
    gate.release()
    await heard(ended)
    await reached(gate)
    await left.aclose()
    gate.open()
    await heard(watch(held, owner="next"))
    assert noting.notes[:2] == [("released", "ended"), ("released", "left")]


async def test_what_an_owner_left_running_is_released_before_the_owner_is_forgotten(
    held, gate, noting
):
    events = watch(held, 10, owner="us")
    await reached(gate)
    await events.aclose()
    held.forget("us")
    assert noting.notes == []  # the worker is in a pass, and nobody else may
    gate.open()
    await heard(watch(held, owner="them"))
    assert noting.notes[:2] == [("released", "us"), ("forgotten", "us")]
    assert noting.threads == {"inference"}


async def test_an_idle_worker_forgets_without_being_asked_for_anything(held, gate, noting):
    gate.open()
    forgotten = threading.Event()
    forget = noting.forget

    def forget_and_tell(owner):
        forget(owner)
        forgotten.set()

    noting.forget = forget_and_tell
    held.forget("us")
    assert await asyncio.to_thread(forgotten.wait, PLENTY)
    assert noting.notes == [("forgotten", "us")]


async def test_a_context_that_cannot_be_kept_costs_its_owner_nothing(held, gate, noting):
    def fail(generation):
        raise MemoryError

    noting.release = fail
    gate.open()
    assert await heard(watch(held, 2)) == ["place 0", 0, 1]
    assert await heard(watch(held, 1)) == ["place 0", 0]


@pytest.mark.parametrize("fails", [False, True])
async def test_whoever_waits_for_loading_is_told_how_it_went(fails):
    loads = threading.Event()

    def load():
        loads.wait(PLENTY)
        if fails:
            raise OSError("no such file")
        return scripted_engine("")

    serving = Runtime(CARD, load, on_failure=lambda error: None)
    waiting = [asyncio.create_task(serving.loaded()) for _ in range(3)]
    await asyncio.wait(waiting, timeout=0)
    assert not any(task.done() for task in waiting)
    loads.set()
    async with asyncio.timeout(PLENTY):
        await asyncio.gather(*waiting)
        await serving.loaded()  # which has nothing more to wait for
    assert serving.is_ready() is not fails
    await asyncio.to_thread(serving.close)
