"""The verbs of this project. Views, sockets and commands call these and no deeper."""

from __future__ import annotations

import time
from contextlib import aclosing

from inference.engine.types import GenerationRequest, SamplingParams
from inference.engine.vocabulary import Vocabulary
from inference.errors import InvalidRequest
from inference.limits import Limits
from inference.line import Caller
from inference.running import RunningTrace
from inference.runtime import Runtime
from inference.traces import Trace, TraceBasis, TraceRequest


async def run_trace(
    request: TraceRequest,
    *,
    runtime: Runtime,
    limits: Limits,
    arrived_at: float,
    caller: Caller | None = None,
) -> Trace:
    """Trace a prompt to its end. `arrived_at` is when the request came, in monotonic seconds;
    `caller` shares turns and places with others.

    Raises InvalidRequest, PromptTooLong, NotReady or Busy before the model runs, and TimedOut
    or InferenceFailed once it does. Cancelling the task frees the model at its next step.
    """
    asked, basis = _checked(request, runtime=runtime, limits=limits, arrived_at=arrived_at)
    events = runtime.submit(
        asked,
        max_waiting=limits.max_waiting,
        deadline=arrived_at + limits.deadline_seconds,
        caller=caller,
        tells_at_end=True,
    )
    running = RunningTrace(basis, events)
    async with aclosing(running):
        async for _ in running:
            pass
    return running.trace()


def start_trace(
    request: TraceRequest,
    *,
    runtime: Runtime,
    limits: Limits,
    arrived_at: float,
    owner: str | None = None,
    caller: Caller | None = None,
) -> RunningTrace:
    """Check a request, take a place for it, and return the trace in the making.

    Raises InvalidRequest, PromptTooLong, NotReady or Busy now; of these, later only Busy, where a
    waiting `caller` with many places makes room. An `owner`'s next request reads only what it does
    not share with this one. Must be called from a running event loop.
    """
    asked, basis = _checked(
        request, runtime=runtime, limits=limits, arrived_at=arrived_at, owner=owner
    )
    events = runtime.submit_and_watch(
        asked,
        max_waiting=limits.max_waiting,
        deadline=arrived_at + limits.deadline_seconds,
        caller=caller,
    )
    return RunningTrace(basis, events)


def _checked(
    request: TraceRequest,
    *,
    runtime: Runtime,
    limits: Limits,
    arrived_at: float,
    owner: str | None = None,
) -> tuple[GenerationRequest, TraceBasis]:
    """What to ask of the engine, and what a trace of it says besides."""
    limits.check_trace(request)
    engine = runtime.engine
    _check_ids(request.forced_ids, engine.vocabulary)
    tokenising_at = time.monotonic()
    prompt_ids = tuple(engine.encode(request.prompt))
    prompt_tokenisation_ms = 1000 * (time.monotonic() - tokenising_at)
    limits.check_prompt_tokens(len(prompt_ids))
    asked = GenerationRequest(
        prompt_ids=prompt_ids,
        max_tokens=request.max_new_tokens,
        num_candidates=request.top_k + 1,  # the drawn token may be one of them
        sampling=SamplingParams(
            temperature=request.temperature, top_p=request.top_p, seed=request.seed
        ),
        forced_ids=request.forced_ids,
        score_prompt=request.score_prompt,
        with_tail=request.with_tail,
        owner=owner,
    )
    basis = TraceBasis(
        request=request,
        model=runtime.card,
        vocabulary=engine.vocabulary,
        prompt_ids=prompt_ids,
        arrived_at=arrived_at,
        prompt_tokenisation_ms=prompt_tokenisation_ms,
    )
    return asked, basis


def count_tokens(text: str, *, runtime: Runtime) -> int:
    """How many tokens a prompt has. Raises NotReady."""
    return len(runtime.engine.encode(text)) if text else 0


def find_tokens(text: str, *, runtime: Runtime, at_most: int) -> list[int]:
    """The ids of the tokens that begin with this text, shortest first. Raises NotReady."""
    return runtime.engine.token_index.beginning_with(text.encode(), at_most=at_most)


def _check_ids(token_ids: tuple[int, ...], vocabulary: Vocabulary) -> None:
    size = len(vocabulary.tokens)
    for token_id in token_ids:
        if not 0 <= token_id < size:
            raise InvalidRequest(
                f"forced: {token_id} is no token's id; they go from 0 to {size - 1}",
                param="forced",
            )
