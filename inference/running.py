"""A trace in the making: its events as they happen, and what came of them."""

from __future__ import annotations

import time

from inference.engine.types import Event, FinishReason, Step
from inference.errors import InferenceFailed
from inference.jobs import Events, QueuePlace
from inference.traces import Trace, TraceBasis


class RunningTrace:
    """Iterate to its end, then take the trace; close it to give up what is to come."""

    def __init__(
        self, basis: TraceBasis, events: Events[Event] | Events[Event | QueuePlace]
    ) -> None:
        self.basis = basis
        self.steps: list[Step] = []
        self._events = events
        self._stopped = False

    def __aiter__(self) -> RunningTrace:
        return self

    async def __anext__(self) -> Event | QueuePlace:
        """The next event. Raises TimedOut, InferenceFailed or NotReady in its place."""
        event = await self._events.__anext__()
        if isinstance(event, Step):
            self.steps.append(event)
        return event

    def stop(self) -> None:
        """Let the step that is being made be the last; the trace is then what there is."""
        self._stopped = True
        self._events.stop()

    async def aclose(self) -> None:
        await self._events.aclose()

    def trace(self) -> Trace:
        """What was made. Raises InferenceFailed where it has no step, or lacks its end."""
        basis = self.basis
        finish_reason = self.steps[-1].finish_reason if self.steps else None
        if finish_reason is None and self._stopped and self.steps:
            finish_reason = FinishReason.STOPPED
        if finish_reason is None:
            raise InferenceFailed("the model stopped before the trace was complete")
        return Trace(
            request=basis.request,
            model=basis.model,
            vocabulary=basis.vocabulary,
            prompt_ids=basis.prompt_ids,
            steps=tuple(self.steps),
            generated_text=basis.vocabulary.decode(step.token_id for step in self.steps),
            finish_reason=finish_reason,
            arrived_at=basis.arrived_at,
            prompt_tokenisation_ms=basis.prompt_tokenisation_ms,
            total_trace_ms=1000 * (time.monotonic() - basis.arrived_at),
        )
