"""The verbs of this project. Views, sockets and commands call these and no deeper."""

from __future__ import annotations

import time
from contextlib import aclosing

from inference.engine.types import GenerationRequest, SamplingParams, Step
from inference.errors import InferenceFailed
from inference.limits import Limits
from inference.runtime import Runtime
from inference.traces import Trace, TraceRequest


async def run_trace(
    request: TraceRequest, *, runtime: Runtime, limits: Limits, arrived_at: float
) -> Trace:
    """Trace a prompt to its end. `arrived_at` is when the request came, in monotonic seconds.

    Raises InvalidRequest, PromptTooLong, NotReady or Busy before the model runs, and TimedOut
    or InferenceFailed once it does. Cancelling the task frees the model at its next step.
    """
    limits.check_trace(request)
    engine = runtime.engine
    tokenising_at = time.monotonic()
    prompt_ids = tuple(engine.encode(request.prompt))
    prompt_tokenisation_ms = 1000 * (time.monotonic() - tokenising_at)
    limits.check_prompt_tokens(len(prompt_ids))
    events = runtime.submit(
        GenerationRequest(
            prompt_ids=prompt_ids,
            max_tokens=request.max_new_tokens,
            num_candidates=request.top_k + 1,  # the drawn token may be one of them
            sampling=SamplingParams(
                temperature=request.temperature, top_p=request.top_p, seed=request.seed
            ),
        ),
        max_waiting=limits.max_waiting,
        deadline=arrived_at + limits.deadline_seconds,
    )
    async with aclosing(events):
        made = tuple([event async for event in events if isinstance(event, Step)])
    finish_reason = made[-1].finish_reason if made else None
    if finish_reason is None:
        raise InferenceFailed("the model stopped before the trace was complete")
    return Trace(
        request=request,
        model=runtime.card,
        vocabulary=engine.vocabulary,
        prompt_ids=prompt_ids,
        steps=made,
        generated_text=engine.vocabulary.decode(step.token_id for step in made),
        finish_reason=finish_reason,
        arrived_at=arrived_at,
        prompt_tokenisation_ms=prompt_tokenisation_ms,
        total_trace_ms=1000 * (time.monotonic() - arrived_at),
    )
