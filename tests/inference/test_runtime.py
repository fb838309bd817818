"""The owner of the model: places, order, deadlines, failures; each held still by a gate."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import aclosing

import pytest
import torch

from inference import runtime
from inference.engine.types import GenerationRequest, SamplingParams
from inference.errors import Busy, InferenceFailed, NotReady, TimedOut
from inference.runtime import PATIENCE_SECONDS, Runtime
from tests.fakes import CARD, scripted_engine
from tests.gates import Clock, Gate, Watched, unexpected

# Longer than any of these tests takes; what never comes fails them.
PLENTY = 60.0
GREEDY = SamplingParams(temperature=0.0)


def asking(tokens: int = 1) -> GenerationRequest:
    return GenerationRequest(prompt_ids=(97,), max_tokens=tokens, num_candidates=1, sampling=GREEDY)


def submit(serving, tokens=1, *, max_waiting=8, seconds=PLENTY):
    deadline = time.monotonic() + seconds
    return serving.submit(asking(tokens), max_waiting=max_waiting, deadline=deadline)


async def ids_of(steps):
    return [step.token_id async for step in steps]


async def reached(gate):
    """Wait until the model is in a pass."""
    assert await asyncio.to_thread(gate.reached.acquire, timeout=PLENTY)


@pytest.fixture
def gate():
    return Gate()


@pytest.fixture
def serve(gate):
    """Start a runtime on an engine; its model is held by `gate` if the engine was made with it."""
    started = []

    def start(engine, **options):
        serving = Runtime(CARD, lambda: engine, on_failure=unexpected, **options)
        started.append(serving)
        serving.wait_until_loaded()
        return serving

    yield start
    gate.open()
    for serving in started:
        serving.close()


@pytest.fixture
def held(serve, gate):
    return serve(scripted_engine("a long text to say", gate=gate))


def passes_of(serving):
    return serving.engine._decoder.passes


# Places and order


async def test_requests_are_served_first_come_first_served(held, gate):
    order = []

    async def follow(name, steps):
        async for _ in steps:
            order.append(name)

    async with asyncio.TaskGroup() as group:
        for name in ("first", "second", "third"):
            group.create_task(follow(name, submit(held, 2)))
        gate.open()
    assert order == ["first", "first", "second", "second", "third", "third"]


async def test_a_request_without_a_place_is_refused_at_once(held, gate):
    # The worker may or may not have taken the first yet: one that runs leaves its place to wait.
    submit(held, max_waiting=1)
    submit(held, max_waiting=1)
    with pytest.raises(Busy) as refused:
        submit(held, max_waiting=1)
    assert "1 places" in refused.value.message
    await reached(gate)
    assert held.in_flight() == (1, 1)


async def test_a_waiting_caller_that_leaves_frees_its_place_at_once(held, gate):
    submit(held, max_waiting=1)
    waiting = submit(held, max_waiting=1)
    await reached(gate)
    await waiting.aclose()
    assert held.in_flight() == (1, 0)
    submit(held, max_waiting=1)


async def test_a_running_caller_that_leaves_frees_the_model_at_the_next_step(held, gate):
    running = submit(held, 10)
    await reached(gate)
    following = submit(held)
    await running.aclose()
    gate.release()  # the pass that ran when its caller left
    await reached(gate)
    assert passes_of(held) == 1
    gate.release()
    assert len(await ids_of(following)) == 1
    assert passes_of(held) == 2


async def test_cancelling_the_task_that_reads_the_steps_is_leaving(held, gate):
    async def follow():
        async with aclosing(submit(held, 10)) as steps:
            return await ids_of(steps)

    task = asyncio.create_task(follow())
    await reached(gate)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.open()
    assert len(await ids_of(submit(held))) == 1
    assert passes_of(held) == 2


async def test_a_caller_whose_event_loop_is_gone_does_not_hold_the_model(held, gate):
    async def leave_without_closing():
        submit(held, 10)
        await reached(gate)

    await asyncio.to_thread(asyncio.run, leave_without_closing())
    gate.open()
    assert len(await ids_of(submit(held))) == 1
    assert passes_of(held) == 2


# Deadlines


async def test_the_deadline_counts_while_waiting(held, gate):
    submit(held)
    await reached(gate)
    waiting = submit(held, seconds=0.05)
    with pytest.raises(TimedOut):
        await ids_of(waiting)
    assert held.in_flight() == (1, 0)


async def test_the_deadline_counts_while_running_and_what_came_before_is_kept(held, gate):
    steps = submit(held, 10, seconds=0.2)
    gate.release()
    assert await anext(steps)
    with pytest.raises(TimedOut):
        await anext(steps)
    gate.open()
    assert len(await ids_of(submit(held))) == 1
    assert passes_of(held) == 3  # one seen, one cut off, one of the next


async def test_a_deadline_that_is_over_before_the_model_is_asked_is_over(held, gate):
    with pytest.raises(TimedOut):
        await ids_of(submit(held, seconds=-1))


# Failures


def failing_once(failure):
    """A script whose second pass fails, the first time that it is reached."""
    good = scripted_engine("fine").vocabulary.rows
    left = [failure]

    def script(place):
        return left.pop() if place == 1 and left else torch.zeros(good)

    return script


@pytest.mark.parametrize(
    "failure",
    [
        RuntimeError("secret prompt"),
        MemoryError("secret prompt"),
        torch.full((300,), float("nan")),
        torch.full((300,), float("inf")),
    ],
    ids=["exception", "memory", "nan", "inf"],
)
async def test_a_failure_of_the_model_fails_that_request_and_no_other(serve, caplog, failure):
    serving = serve(scripted_engine(failing_once(failure)))
    steps, others = submit(serving, 4), submit(serving, 4)
    assert await anext(steps)
    with pytest.raises(InferenceFailed) as failed:
        await anext(steps)
    assert len(await ids_of(others)) == 4
    assert serving.is_ready()
    assert serving.in_flight() == (0, 0)
    assert "secret" not in failed.value.message
    assert "secret" not in caplog.text


async def test_a_request_that_cannot_be_begun_fails_alone(serve, monkeypatch):
    engine = scripted_engine("fine")
    failures = [MemoryError()]
    begin = engine._decoder.new_context

    def begin_or_fail(capacity):
        if failures:
            raise failures.pop()
        return begin(capacity)

    monkeypatch.setattr(engine._decoder, "new_context", begin_or_fail)
    serving = serve(engine)
    with pytest.raises(InferenceFailed):
        await ids_of(submit(serving, 4))
    assert len(await ids_of(submit(serving, 4))) == 4


def _raise(error):
    raise error


async def test_the_worker_outlives_an_engine_that_breaks_its_promise(serve):
    serving = serve(Watched(scripted_engine("fine"), raises=RuntimeError("secret prompt")))
    with pytest.raises(InferenceFailed):
        await ids_of(submit(serving, 4))
    assert len(await ids_of(submit(serving, 4))) == 4


# Readiness


async def test_a_worker_stuck_in_a_turn_is_not_ready_until_it_comes_round(serve, gate):
    clock = Clock()
    serving = serve(scripted_engine("text", gate=gate), clock=clock)
    assert serving.is_ready()
    steps = submit(serving)
    await reached(gate)
    clock.now = PATIENCE_SECONDS - 0.1
    assert serving.is_ready()
    clock.now = PATIENCE_SECONDS + 0.1
    assert not serving.is_ready()
    gate.open()
    await ids_of(steps)
    await ids_of(submit(serving))  # taken up, so the worker came round
    assert serving.is_ready()


def test_while_the_model_loads_nothing_is_served_and_nothing_is_ready():
    loads = threading.Event()

    def load():
        loads.wait(PLENTY)
        return scripted_engine("text")

    serving = Runtime(CARD, load, on_failure=unexpected)
    assert not serving.is_ready()
    with pytest.raises(NotReady) as refused:
        serving.engine.encode("x")
    assert "loading" in refused.value.message
    loads.set()
    serving.wait_until_loaded()
    assert serving.is_ready()
    serving.close()
    assert not serving.is_ready()


def test_a_failure_to_load_is_told_and_the_worker_ends():
    failures = []
    error = OSError("no such file")
    serving = Runtime(CARD, lambda: _raise(error), on_failure=failures.append)
    serving.wait_until_loaded()
    assert failures == [error]
    assert not serving.is_ready()
    with pytest.raises(NotReady):
        serving.engine.encode("x")
    serving.close()


async def test_the_model_is_used_on_one_thread_from_loading_on(serve):
    engine = Watched(scripted_engine("text"))

    def load():
        engine.threads.add(threading.current_thread().name)
        return engine

    serving = Runtime(CARD, load, on_failure=unexpected)
    await asyncio.to_thread(serving.wait_until_loaded)
    await asyncio.gather(*(ids_of(submit(serving, 3)) for _ in range(3)))
    await asyncio.to_thread(serving.close)
    assert engine.threads == {"inference"}


# Closing


async def test_closing_tells_those_who_wait_and_lets_the_running_one_end(held, gate):
    running = submit(held, 3)
    await reached(gate)
    waiting = submit(held)
    closing = asyncio.create_task(asyncio.to_thread(held.close))
    with pytest.raises(NotReady, match="stopping"):
        await ids_of(waiting)
    with pytest.raises(NotReady, match="stopping"):
        submit(held)
    gate.open()
    assert len(await ids_of(running)) == 3
    await closing
    assert not held.is_ready()


# What a refused caller is told


async def test_retry_after_is_the_time_that_those_before_will_take(serve, gate):
    """A job counts a fifth in the mean, which starts at 1 s: after one of 11 s it is 3 s."""
    clock = Clock()
    rows = scripted_engine("").vocabulary.rows

    def eleven_seconds(place):
        clock.now += 11.0
        return torch.zeros(rows)

    serving = serve(scripted_engine(eleven_seconds, gate=gate), clock=clock)
    gate.release()
    await ids_of(submit(serving))
    for _ in range(3):
        submit(serving, max_waiting=2)
    with pytest.raises(Busy) as refused:
        submit(serving, max_waiting=2)
    assert refused.value.retry_after_seconds == 9  # three places taken, 3 s each


async def test_many_who_are_refused_at_once_are_told_to_come_back_at_different_times(serve, gate):
    serving = serve(scripted_engine("x" * 50, gate=gate), clock=Clock())
    for _ in range(8):
        submit(serving, max_waiting=8)
    told = []
    for _ in range(100):
        with pytest.raises(Busy) as refused:
            submit(serving, max_waiting=7)
        told.append(refused.value.retry_after_seconds)
    assert min(told) == 8  # eight places taken, 1 s each
    assert max(told) == 24
    assert max(told.count(seconds) for seconds in told) <= 8  # of 17 different ones


async def test_retry_after_is_never_less_than_a_second(serve, gate):
    serving = serve(scripted_engine("x" * 50, gate=gate), clock=Clock())
    gate.release(20)
    for _ in range(20):  # jobs of no time at all: the mean falls towards 0
        await ids_of(submit(serving))
    submit(serving, max_waiting=0)
    with pytest.raises(Busy) as refused:
        submit(serving, max_waiting=0)
    assert refused.value.retry_after_seconds == 1


def test_a_process_without_a_model_says_so():
    with pytest.raises(NotReady):
        runtime.current()
