"""
A request between its caller and the worker: the job on one side, its events on the other.

The worker's thread tells, the caller's event loop hears; nothing else is shared.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inference.engine.types import Event, GenerationRequest
from inference.errors import TimedOut, TraceError

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
        emit: Callable[[Item], object],
        *,
        tells_place: bool = False,
    ) -> None:
        self.request = request
        self.generation: Generation | None = None
        self.admitted_at = 0.0  # when it left the queue, on the runtime's clock
        self.cancelled = threading.Event()
        self._emit = emit
        self._tells_place = tells_place
        self._position: int | None = None  # as last told

    def tell_place(self, position: int) -> None:
        """Tell the caller its place in the queue, if it asked for that and the place is new."""
        if self._tells_place and position != self._position:
            self._position = position
            self.tell(QueuePlace(position))

    def tell(self, item: Item) -> None:
        try:
            self._emit(item)
        except RuntimeError:  # the caller's event loop is closed: nobody is there to hear
            self.cancelled.set()


class Events:
    """The caller's side: the events as they happen. Close it to give up the rest."""

    def __init__(
        self, inbox: asyncio.Queue[Item], deadline: float, *, cancel: Callable[[], None]
    ) -> None:
        self._inbox = inbox
        self._deadline = deadline  # monotonic seconds
        self._cancel = cancel

    def __aiter__(self) -> Events:
        return self

    async def __anext__(self) -> Event | QueuePlace:
        """The next event. Raises TimedOut, InferenceFailed or NotReady in its place."""
        remaining = self._deadline - time.monotonic()
        try:
            async with asyncio.timeout(max(remaining, 0)):
                item = await self._inbox.get()
        except TimeoutError:
            self._cancel()
            raise TimedOut("the deadline passed before the answer was complete") from None
        if item is None:
            raise StopAsyncIteration
        if isinstance(item, TraceError):
            raise item
        return item

    def stop(self) -> None:
        """Let there be no more than what is being made now; the iteration then ends."""
        self._cancel()

    async def aclose(self) -> None:
        """Give up what is to come: the model is free at the next one, a place at once."""
        self._cancel()
