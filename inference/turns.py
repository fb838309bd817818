"""
The worker's round: drop who has left, take everyone else one turn further, tell what came.

Called on the worker's thread alone. What one job's model work raises ends that job and no other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from inference.errors import InferenceFailed, TraceError
from inference.jobs import Job
from inference.places import Places
from inference.reports import Outcome

if TYPE_CHECKING:  # they compile kernels
    from inference.engine.engine import Engine, TurnOutcome
    from inference.engine.generation import Generation

logger = logging.getLogger(__name__)


def drop_ended(engine: Engine, places: Places) -> None:
    """End the running jobs whose callers have enough of every choice, or have left."""
    for job in places.running():
        if job.generation is not None:
            job.generation.end(job.finished)
            if job.generation.has_ended:
                _finish(job, engine, places)
                continue
        if job.cancelled.is_set():
            _release(job, engine)
            places.end(job, Outcome.CANCELLED)


def take_turn(engine: Engine, places: Places, clock: Callable[[], float]) -> None:
    """Take every running job one turn further."""
    opened = [
        (job, generation)
        for job in places.running()
        if (generation := _open(job, engine, places)) is not None
    ]
    if not opened:
        return
    outcomes: Sequence[TurnOutcome]
    try:
        outcomes = engine.turn([generation for _, generation in opened])
    except Exception as error:  # which engines promise not to do; the worker must outlive it
        outcomes = [error] * len(opened)
    for (job, generation), outcome in zip(opened, outcomes, strict=True):
        if isinstance(outcome, Exception):
            places.end(job, Outcome.FAILED, _as_failure(outcome, job))
            continue
        for event in outcome:
            job.deliver(event, clock())
        if generation.has_ended:
            _finish(job, engine, places)


def _open(job: Job, engine: Engine, places: Places) -> Generation | None:
    """The job's generation, begun if need be; None where that failed and ended the job."""
    try:
        job.generation = job.generation or engine.open(job.request)
    except Exception as error:
        places.end(job, Outcome.FAILED, _as_failure(error, job))
    return job.generation


def _finish(job: Job, engine: Engine, places: Places) -> None:
    _release(job, engine)
    places.end(job, Outcome.FINISHED)


def _release(job: Job, engine: Engine) -> None:
    if job.generation is None:
        return
    try:
        engine.release(job.generation)
    except Exception as error:  # what was told stands; only the next request is slower
        logger.error("a context could not be kept: %s", type(error).__name__)


def _as_failure(error: Exception, job: Job) -> TraceError:
    if isinstance(error, TraceError):
        return error
    # The class alone: a message or a traceback could quote the prompt.
    job.context.run(logger.error, "a request failed in the model: %s", type(error).__name__)
    return InferenceFailed("the model failed on this request")
