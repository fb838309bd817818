"""
A request between its caller and the worker: the job on one side, its events on the other.

The worker's thread tells, the caller's event loop hears; nothing else is shared.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from inference.engine.types import Event, GenerationRequest
from inference.errors import TimedOut, TraceError

if TYPE_CHECKING:
    from inference.engine.generation import Generation

# An event, what went wrong instead, or None: there is no more.
Item = Event | TraceError | None


class Job:
    """The worker's side of a request."""

    def __init__(self, request: GenerationRequest, emit: Callable[[Item], object]) -> None:
        self.request = request
        self.generation: Generation | None = None
        self.admitted_at = 0.0  # when it left the queue, on the runtime's clock
        self.cancelled = threading.Event()
        self._emit = emit

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

    async def __anext__(self) -> Event:
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

    async def aclose(self) -> None:
        """Give up what is to come: the model is free at the next one, a place at once."""
        self._cancel()
