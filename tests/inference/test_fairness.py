"""Many clients and one slow model: who is served, who is refused, and what they are told."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
import torch

from inference.engine.types import GenerationRequest, SamplingParams
from inference.errors import Busy
from inference.jobs import QueuePlace
from inference.line import Caller
from inference.pace import ENOUGH
from inference.runtime import Runtime
from tests.fakes import CARD, scripted_engine
from tests.gates import Clock, Gate, unexpected

PLENTY = 60.0
REQUEST = GenerationRequest(
    prompt_ids=(97,), max_tokens=1, num_candidates=1, sampling=SamplingParams(temperature=0.0)
)


class Slow:
    """A runtime whose model takes as long as `seconds` says, on a clock of its own."""

    def __init__(self):
        self.gate, self.clock, self.seconds = Gate(), Clock(), 1.0
        rows = scripted_engine("").vocabulary.rows

        def pass_by(place):
            self.clock.now += self.seconds
            return torch.zeros(rows)

        engine = scripted_engine(pass_by, gate=self.gate)
        self.serving = Runtime(CARD, lambda: engine, on_failure=unexpected, clock=self.clock)
        self.serving.wait_until_loaded()

    def submit(self, client, lane=None, *, max_waiting=8, seconds=1e6):
        return self.serving.submit_and_watch(
            REQUEST,
            max_waiting=max_waiting,
            deadline=self.clock.now + seconds + 1e9,  # far away on the caller's own clock
            caller=Caller(client, lane or client),
        )

    async def reached(self):
        assert await asyncio.to_thread(self.gate.reached.acquire, timeout=PLENTY)


@pytest.fixture
def slow():
    made = Slow()
    yield made
    made.gate.open()
    made.serving.close()


async def ended(events):
    """Whether it was served; with the places that it was told of."""
    places = []
    try:
        async for event in events:
            if isinstance(event, QueuePlace):
                places.append(event.position)
    except Busy as refused:
        return refused, places
    return "served", places


async def test_one_greedy_client_keeps_none_of_ten_polite_ones_from_being_served(slow):
    greedy = [asyncio.create_task(ended(slow.submit("greedy"))) for _ in range(9)]
    await slow.reached()
    served = 0
    for _ in range(5):
        # All places are the greedy one's, which at once takes every one that is free.
        polite = []
        for n in range(6):
            polite.append(asyncio.create_task(ended(slow.submit(f"polite{n}"))))
            await asyncio.sleep(0)
            with suppress(Busy):
                greedy.append(asyncio.create_task(ended(slow.submit("greedy"))))
        slow.gate.release(8)  # what runs, one more of the greedy one, and theirs
        served += sum(outcome == "served" for outcome, _ in await asyncio.gather(*polite))
        await slow.reached()
    assert served == 30
    slow.gate.open()
    outcomes = [outcome for outcome, _ in await asyncio.gather(*greedy)]
    assert "served" in outcomes
    refused = [outcome for outcome in outcomes if isinstance(outcome, Busy)]
    assert refused
    assert "one client keeps 2" in refused[0].message


async def test_a_client_alone_may_have_all_the_places(slow):
    tasks = [asyncio.create_task(ended(slow.submit("alone"))) for _ in range(9)]
    await slow.reached()
    with pytest.raises(Busy, match="all 8 places to wait are taken, 8 of them by this client"):
        slow.submit("alone")
    slow.gate.open()
    assert {outcome for outcome, _ in await asyncio.gather(*tasks)} == {"served"}


async def test_a_class_behind_one_address_is_served_beside_somebody_with_many_requests(slow):
    greedy = [asyncio.create_task(ended(slow.submit("greedy", max_waiting=60))) for _ in range(20)]
    await slow.reached()
    pupils = [
        asyncio.create_task(ended(slow.submit("school", f"socket{n}", max_waiting=60)))
        for n in range(30)
    ]
    slow.gate.release(32)  # what runs, one more of the greedy one, and theirs
    outcomes = await asyncio.gather(*pupils)  # before any second one of the greedy client
    assert {outcome for outcome, _ in outcomes} == {"served"}
    assert not all(task.done() for task in greedy)
    slow.gate.open()
    await asyncio.gather(*greedy)


async def test_places_are_told_as_they_are_also_where_others_come_between(slow):
    running = slow.submit("greedy")
    await slow.reached()
    greedy = [slow.submit("greedy"), slow.submit("greedy")]
    ada = slow.submit("ada")
    slow.gate.open()
    told = [(await ended(each))[1] for each in (running, *greedy, ada)]
    assert told == [[0], [1, 0], [2, 3, 2, 1, 0], [2, 1, 0]]


async def test_who_cannot_be_served_in_time_is_told_at_once_and_when_to_come_back(slow):
    slow.seconds = 11.0
    for _ in range(ENOUGH):
        slow.gate.release()
        await ended(slow.submit("ada"))
        await slow.reached()
    running = asyncio.create_task(ended(slow.submit("ada")))
    await slow.reached()
    pace = 1.0
    for _ in range(ENOUGH):
        pace += 0.2 * (11.0 - pace)

    def come(seconds):
        return slow.serving.submit(
            REQUEST, max_waiting=8, deadline=slow.clock.now + seconds, caller=Caller("bob", "bob")
        )

    with pytest.raises(Busy, match="leave no time") as refused:
        come(seconds=2 * pace - 3.5)
    assert refused.value.retry_after_seconds == 4
    await come(seconds=2 * pace + 0.1).aclose()
    slow.gate.open()
    assert (await running)[0] == "served"


async def test_a_client_that_fills_the_time_makes_room_too(slow):
    slow.seconds = 1.0
    for _ in range(ENOUGH):
        slow.gate.release()
        await ended(slow.submit("greedy"))
        await slow.reached()
    greedy = [
        asyncio.create_task(ended(slow.submit("greedy", f"socket{n}", max_waiting=60)))
        for n in range(12)
    ]
    await slow.reached()
    events = slow.serving.submit(
        REQUEST, max_waiting=60, deadline=slow.clock.now + 12.5, caller=Caller("ada", "ada")
    )
    assert slow.serving.in_flight() == (1, 11)
    await events.aclose()
    slow.gate.open()
    outcomes = [outcome for outcome, _ in await asyncio.gather(*greedy)]
    assert sum(isinstance(outcome, Busy) for outcome in outcomes) == 1
