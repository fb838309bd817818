"""The live socket: frames in, frames out, one run at a time."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Coroutine
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from structlog.contextvars import bind_contextvars

from inference import runtime
from inference.errors import NotReady, TraceError
from inference.models import current_limits
from inference.services import count_tokens, find_tokens
from traceapp import rates
from traceapp.incoming import BadFrame, CloseSocket, Incoming
from traceapp.live_run import LiveRun
from traceapp.request_ids import HEADER, request_id_of
from traceapp.versions import versions
from traceapp.wire.live import (
    Count,
    CountFrame,
    ErrorFrame,
    Find,
    FoundFrame,
    Hello,
    ServerFrame,
    Start,
    Stop,
    tokens_of,
)
from traceapp.wire.models import LimitsAnswer, ModelEntry

logger = logging.getLogger(__name__)

GOING_AWAY = 1001
INTERNAL_ERROR = 1011
MAX_FOUND = 20


class LiveTraceConsumer(AsyncWebsocketConsumer):
    """`start` begins a run; `stop`, another `start` or leaving ends it.

    Channels hands a consumer its messages one by one, and waits for each handler. So a run is a
    task of its own; a handler that ran it would hear neither `stop` nor the disconnect until it
    was over.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._owner = uuid.uuid4().hex  # names this socket to the model; nobody else knows it
        self._incoming = Incoming()
        self._run: LiveRun | None = None
        self._run_task: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        self._winds_down = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        sent = headers.get(HEADER.lower().encode(), b"").decode("latin-1")
        bind_contextvars(request_id=request_id_of(sent))  # for the records of the log
        try:
            await super().__call__(scope, receive, send)
        except asyncio.CancelledError:  # the server stops
            await self.close(code=GOING_AWAY)
            raise
        except Exception as error:
            # The class alone: a message or a traceback could quote the prompt.
            logger.error("a socket failed: %s", type(error).__name__)
            await self.close(code=INTERNAL_ERROR)
        finally:
            await self._leave()

    async def connect(self) -> None:
        await self.accept()
        _open.add(self)
        hello = await _hello()
        await self._say(hello)
        if not hello.ready:
            self._begin(self._greet_again())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self._is_closed:
            return
        try:
            match self._incoming.read(text_data):
                case Start() as start:
                    self._replace_run(start)
                case Stop() as stop:
                    self._stop_run(stop.id)
                case Count() | Find() as question:
                    await self._answer(question)
        except BadFrame as bad:
            await self._say(bad.answer)
        except CloseSocket as reason:
            await self.close(code=reason.code, reason=reason.reason)
            await self._end_tasks()

    async def close(self, code: int | bool | None = None, reason: str | None = None) -> None:
        self._is_closed = True
        await super().close(code=code, reason=reason)

    # The end of the server

    @property
    def is_running(self) -> bool:
        return self._run_task is not None and not self._run_task.done()

    def wind_down(self) -> None:
        """Close with 1001 once the run that is on has ended."""
        if not self._winds_down:
            self._winds_down = True
            self._begin(self._close_after_run())

    async def _close_after_run(self) -> None:
        while self._run_task is not None and not self._run_task.done():
            await asyncio.wait([self._run_task])
        await self.close(code=GOING_AWAY)

    # A run

    def _replace_run(self, start: Start) -> None:
        if self._run is not None:
            self._run.stop()
        self._run = LiveRun(
            start,
            address=self._address(),
            headers=self.scope["headers"],
            owner=self._owner,
            say=self._say,
        )
        self._run_task = self._begin(self._run.perform(after=self._run_task))

    def _stop_run(self, run_id: str) -> None:
        # Any other has ended already, or been replaced: it was crossed by its last frame.
        if self._run is not None and self._run.id == run_id:
            self._run.stop()

    def _address(self) -> str:
        peer = self.scope.get("client")
        forwarded = [value for name, value in self.scope["headers"] if name == b"x-forwarded-for"]
        return rates.client_at(peer and peer[0], b",".join(forwarded).decode("latin-1"))

    # Questions

    async def _answer(self, question: Count | Find) -> None:
        try:
            serving = runtime.current()
            if isinstance(question, Count):
                limit = (await current_limits()).max_prompt_tokens
                tokens = count_tokens(question.prompt, runtime=serving)
                await self._say(CountFrame(id=question.id, tokens=tokens, limit=limit))
            else:
                found = find_tokens(question.text, runtime=serving, at_most=MAX_FOUND)
                described = tokens_of(found, serving.engine.vocabulary)
                await self._say(FoundFrame(id=question.id, tokens=described))
        except TraceError as error:
            await self._say(ErrorFrame.of(error, id=question.id))

    async def _greet_again(self) -> None:
        await runtime.current().loaded()
        hello = await _hello()
        if hello.ready:
            await self._say(hello)

    # Tasks

    async def _say(self, frame: ServerFrame) -> None:
        if not self._is_closed:
            await self.send(text_data=frame.model_dump_json())

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _end_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _leave(self) -> None:
        """Free the model and what it kept for this socket."""
        self._is_closed = True
        _open.discard(self)
        await self._end_tasks()
        try:
            runtime.current().forget(self._owner)
        except NotReady:
            return


_open: set[LiveTraceConsumer] = set()


def open_sockets() -> list[LiveTraceConsumer]:
    """Those that are open now, in this process."""
    return list(_open)


async def _hello() -> Hello:
    limits = LimitsAnswer.of(await current_limits())
    try:
        serving = runtime.current()
    except NotReady:
        return Hello(model=None, limits=limits, vocabulary=0, ready=False, versions=versions())
    ready = serving.is_ready()
    return Hello(
        model=ModelEntry.of(serving.card, ready=ready),
        limits=limits,
        vocabulary=len(serving.engine.vocabulary.tokens) if ready else 0,
        ready=ready,
        versions=versions(),
    )
