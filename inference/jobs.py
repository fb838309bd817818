"""
A request between its caller and the worker: the job on one side, its events on the other.

The worker's thread tells, the caller's event loop hears; nothing else is shared.
"""

from __future__ import annotations

import asyncio
import contextvars
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from inference.engine.types import Event, GenerationRequest, Step
from inference.errors import TimedOut, TraceError
from inference.line import Caller
from inference.reports import Outcome, Report

if TYPE_CHECKING:
    from inference.engine.generation import Generation


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """Where a request stands: 1 is next, 0 is with the model."""

    position: int


# An event, what went wrong instead, or None: there is no more.
Item = Event | QueuePlace | TraceError | None


class Job:
    """The worker's side of a request."""

    def __init__(
        self,
        request: GenerationRequest,
        submitted_at: float,
        emit: Callable[[Item], object],
        *,
        caller: Caller | None = None,
        deadline: float = math.inf,
        keeps_place: bool = False,
        tells_place: bool = False,
        tells_at_end: bool = False,
    ) -> None:
        """`deadline` is on the clock of `submitted_at`. One that is nobody's is its own caller."""
        self.request = request
        self.caller = caller or Caller(client=f"job {id(self)}", lane=f"job {id(self)}")
        self.deadline = deadline
        self.keeps_place = keeps_place  # as the rest of what has begun
        self.context = contextvars.copy_context()  # of the request, for what is logged of it
        self.generation: Generation | None = None
        self.admitted_at: float | None = None  # when it left the queue, on the runtime's clock
        self._submitted_at = submitted_at  # on the same clock, and so is the next
        self._first_token_at: float | None = None
        self._tokens = 0
        self.cancelled = threading.Event()
        self.finished: frozenset[int] = frozenset()  # choices whose reader has enough of them
        self._emit = emit
        self._tells_place = tells_place
        self._position: int | None = None  # as last told
        # Whoever wants the whole only is not woken at each step, beside which the model runs.
        self._tells_at_end = tells_at_end
        self._untold: list[Event] = []

    def tell_place(self, position: int) -> None:
        """Tell the caller its place in the queue, if it asked for that and the place is new."""
        if self._tells_place and position != self._position:
            self._position = position
            self.tell(QueuePlace(position))

    def finish_choice(self, choice: int) -> None:
        """Draw no more for this choice after the turn under way."""
        self.finished |= {choice}

    def deliver(self, event: Event, now: float) -> None:
        """Tell an event, and note when tokens came."""
        if isinstance(event, Step):
            self._tokens += 1
            if self._first_token_at is None:
                self._first_token_at = now
        if self._tells_at_end:
            self._untold.append(event)
        else:
            self.tell(event)

    def seconds_with_the_model(self, now: float) -> float:
        return now - (now if self.admitted_at is None else self.admitted_at)

    def report(self, outcome: Outcome, now: float) -> Report:
        """What there is to count of this job once it has left the model."""
        began, first = self._submitted_at, self._first_token_at
        return Report(
            outcome=outcome,
            prompt_tokens=len(self.request.prompt_ids),
            reused_tokens=0 if self.generation is None else self.generation.prompt.reused_tokens,
            completion_tokens=self._tokens,
            queued_seconds=(now if self.admitted_at is None else self.admitted_at) - began,
            first_token_seconds=None if first is None else first - began,
            total_seconds=now - began,
        )

    def tell(self, item: Item) -> None:
        untold, self._untold = self._untold, []
        try:
            for each in (*untold, item):
                self._emit(each)
        except RuntimeError:  # the caller's event loop is closed: nobody is there to hear
            self.cancelled.set()


E = TypeVar("E", Event, Event | QueuePlace)


class Events(Generic[E]):
    """The caller's side: the events as they happen. Close it to give up the rest."""

    def __init__(
        self,
        inbox: asyncio.Queue[Any],
        deadline: float,
        *,
        cancel: Callable[[], None],
        finish: Callable[[int], None],
    ) -> None:
        self._inbox = inbox
        self._deadline = deadline  # monotonic seconds
        self._cancel = cancel
        self._finish = finish

    def __aiter__(self) -> Events[E]:
        return self

    async def __anext__(self) -> E:
        """The next event. Raises TimedOut, InferenceFailed, NotReady or, of one that still waits,
        Busy in its place.
        """
        remaining = self._deadline - time.monotonic()
        try:
            async with asyncio.timeout(max(remaining, 0)):
                item: E | TraceError | None = await self._inbox.get()
        except TimeoutError:
            self._cancel()
            raise TimedOut("the deadline passed before the answer was complete") from None
        if item is None:
            raise StopAsyncIteration
        if isinstance(item, TraceError):
            raise item
        return item

    def finish_choice(self, choice: int) -> None:
        """Let this choice draw no more; a step that is being made may still come."""
        self._finish(choice)

    def stop(self) -> None:
        """Let there be no more than what is being made now; the iteration then ends."""
        self._cancel()

    async def aclose(self) -> None:
        """Give up what is to come: the model is free at the next one, a place at once."""
        self._cancel()
