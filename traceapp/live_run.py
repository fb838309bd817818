"""One run of the live socket: from `start` to the frame that ends it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing

from inference import runtime
from inference.engine.types import PromptScores, Step
from inference.errors import InferenceFailed, TraceError
from inference.jobs import QueuePlace
from inference.models import current_limits
from inference.running import RunningTrace
from inference.services import start_trace
from inference.traces import Trace, TraceBasis
from traceapp import rates
from traceapp.keys import admit_socket
from traceapp.sharing.receipts import receipt_for
from traceapp.wire.live import (
    ErrorFrame,
    FinishedFrame,
    PromptScoresFrame,
    QueuedFrame,
    ServerFrame,
    Start,
    StartedFrame,
    StepFrame,
    StoppedFrame,
    tokens_of,
)
from traceapp.wire.traces import TraceSoFar

logger = logging.getLogger(__name__)


class LiveRun:
    """Its frames end with exactly one of `finished`, `stopped` and `error`."""

    def __init__(
        self,
        start: Start,
        *,
        address: str,
        headers: Iterable[tuple[bytes, bytes]],
        owner: str,
        say: Callable[[ServerFrame], Awaitable[None]],
    ) -> None:
        """`address` is whom the rate counts, unless the socket's `headers` hold an API key;
        `owner`'s runs may continue from one another.
        """
        self.id = start.id
        self._start = start
        self._address = address
        self._headers = headers
        self._owner = owner
        self._say = say
        self._arrived_at = time.monotonic()
        self._running: RunningTrace | None = None
        self._stop_wanted = asyncio.Event()

    def stop(self) -> None:
        """End at the next step with what there is."""
        self._stop_wanted.set()
        if self._running is not None:
            self._running.stop()

    async def perform(self, *, after: asyncio.Task[None] | None) -> None:
        """Run once the task before has ended. Cancelling this frees the model, and says nothing."""
        if after is not None:
            await asyncio.wait([after])
        try:
            await self._trace()
        except TraceError as error:
            await self._say(ErrorFrame.of(error, id=self.id))
        except Exception as error:
            # The class alone: a message or a traceback could quote the prompt.
            logger.error("a live run failed: %s", type(error).__name__)
            failure = InferenceFailed("the server failed on this request")
            await self._say(ErrorFrame.of(failure, id=self.id))

    async def _trace(self) -> None:
        serving = runtime.current()
        limits = await current_limits()
        self._start.trace.require_model(serving.card.alias)
        if self._stop_wanted.is_set():  # before it had its turn: it counts as no request
            await self._say(StoppedFrame(id=self.id))
            return
        # Once more at each run: a key may have been revoked since the socket opened.
        key = await admit_socket(self._headers)
        await rates.take_turn_as(self._address, limits, key=key)
        running = start_trace(
            self._start.to_request(limits),
            runtime=serving,
            limits=limits,
            arrived_at=self._arrived_at,
            owner=self._owner,
            caller=rates.caller_at(self._address, key=key, socket=self._owner),
        )
        async with aclosing(running):
            self._running = running
            if self._stop_wanted.is_set():  # while its turn was being counted
                running.stop()
            async for event in running:
                await self._say(frame_of(event, running.basis, id=self.id))
        if running.steps or not self._stop_wanted.is_set():
            await self._say(finished_frame(running.trace(), id=self.id))
        else:
            await self._say(StoppedFrame(id=self.id))


def frame_of(event: QueuePlace | PromptScores | Step, basis: TraceBasis, *, id: str) -> ServerFrame:
    """What a client is told of one event of its run."""
    match event:
        case QueuePlace(position=0):
            prompt_tokens = tokens_of(basis.prompt_ids, basis.vocabulary)
            return StartedFrame(id=id, prompt_tokens=prompt_tokens)
        case QueuePlace(position=position):
            return QueuedFrame(id=id, position=position)
        case PromptScores():
            return PromptScoresFrame.of(event, id=id)
        case Step():
            return StepFrame.of(event, basis, id=id)


def finished_frame(trace: Trace, *, id: str) -> FinishedFrame:
    """The whole trace at the end of a run, with what it takes to share it."""
    told = TraceSoFar.of(trace, with_analysis=True)
    return FinishedFrame(id=id, trace=told, receipt=receipt_for(trace, told))
