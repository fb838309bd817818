"""
The owner of the model: one thread that loads it and then runs every turn of every request.

That thread is the lock. A request takes a counted place at once or is refused; those that wait
take turns. Events cross to the caller's event loop as they are made. A
caller that leaves is dropped before the next turn; a failure of the model fails one request.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from inference import turns
from inference.chat.model import ChatModel, chat_model_of
from inference.engine.types import Event, GenerationRequest, ModelCard
from inference.errors import NotReady, ShuttingDown
from inference.jobs import Events, Item, Job, QueuePlace
from inference.line import Caller
from inference.places import Places
from inference.reports import Observer, unobserved

if TYPE_CHECKING:  # it compiles kernels, for the worker's thread alone
    from inference.engine.engine import Engine

logger = logging.getLogger(__name__)

# A worker that has not come round for this long hangs in one turn: it is not ready.
PATIENCE_SECONDS = 10.0
IDLE_BEAT_SECONDS = 1.0
RESTART_SECONDS = 10  # what a caller is told to wait while this process makes way


class Status(StrEnum):
    LOADING = "loading"
    SERVING = "serving"
    CLOSED = "closed"  # by close(), or because loading failed


class Runtime:
    """One model, one worker thread, a counted number of places."""

    def __init__(
        self,
        card: ModelCard,
        load: Callable[[], Engine],
        *,
        on_failure: Callable[[Exception], None],
        observer: Observer = unobserved,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the worker, which calls `load` first; on_failure gets what that raises.

        `clock`, in seconds, tells how long jobs take and whether the worker hangs in a turn.
        """
        self.card = card
        self._load = load
        self._on_failure = on_failure
        self._clock = clock
        self.chat_model: ChatModel | None = None  # with the engine, where it can chat
        self._engine: Engine | None = None
        self._status = Status.LOADING
        self._places = Places(observer=observer, clock=clock)
        self._changed = self._places.changed  # guards the status and the lists below, too
        self._errands: list[Callable[[Engine], object]] = []  # done between two turns
        self._on_loaded: list[Callable[[], object]] = []
        self._beat = self._clock()
        self._worker = threading.Thread(target=self._work, name="inference", daemon=True)
        self._worker.start()

    # For callers, on any thread

    @property
    def engine(self) -> Engine:
        """The loaded engine. Raises NotReady before that."""
        if self._engine is None:
            raise NotReady("the model is still loading; try again in a moment")
        return self._engine

    def is_ready(self) -> bool:
        """Whether the worker has a model and came round lately: asked of it, not of a flag."""
        fresh = self._clock() - self._beat < PATIENCE_SECONDS
        return self._status is Status.SERVING and self._worker.is_alive() and fresh

    @property
    def is_closing(self) -> bool:
        return self._status is Status.CLOSED

    def wait_until_loaded(self) -> None:
        """Block until the model is loaded or its loading has failed."""
        with self._changed:
            self._changed.wait_for(lambda: self._status is not Status.LOADING)

    async def loaded(self) -> None:
        """Wait, without holding a thread, until the model is loaded or its loading has failed."""
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def tell() -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(done.set)

        with self._changed:
            if self._status is not Status.LOADING:
                return
            self._on_loaded.append(tell)
        await done.wait()

    def in_flight(self) -> tuple[int, int]:
        """How many requests run and how many wait."""
        return self._places.counts()

    def submit(
        self,
        request: GenerationRequest,
        *,
        max_waiting: int,
        deadline: float,
        caller: Caller | None = None,
        keeps_place: bool = False,
        tells_at_end: bool = False,
    ) -> Events[Event]:
        """Take a place now, and return the events to come.

        `deadline` is in monotonic seconds; `caller` is whom the turns and places are shared by.
        What `keeps_place` is never refused as busy, nor makes room. What `tells_at_end` gives its
        events together, and what came of it. Raises NotReady or Busy at once, so that a caller can
        still answer with a status; one that waits may be told Busy later. Must be called from a
        running event loop.
        """
        inbox: asyncio.Queue[Item] = asyncio.Queue()
        job = self._job(
            request,
            inbox,
            deadline=deadline,
            caller=caller,
            keeps_place=keeps_place,
            tells_at_end=tells_at_end,
        )
        self._enqueue(job, max_waiting=max_waiting)
        return Events(
            inbox, deadline, cancel=lambda: self._places.give_up(job), finish=job.finish_choice
        )

    def submit_and_watch(
        self,
        request: GenerationRequest,
        *,
        max_waiting: int,
        deadline: float,
        caller: Caller | None = None,
    ) -> Events[Event | QueuePlace]:
        """As `submit`, with the place in the queue before all else and whenever it changes."""
        inbox: asyncio.Queue[Item] = asyncio.Queue()
        job = self._job(request, inbox, deadline=deadline, caller=caller, tells_place=True)
        self._enqueue(job, max_waiting=max_waiting)
        return Events(
            inbox, deadline, cancel=lambda: self._places.give_up(job), finish=job.finish_choice
        )

    def _job(self, request: GenerationRequest, inbox: asyncio.Queue[Item], **options: Any) -> Job:
        loop = asyncio.get_running_loop()
        return Job(
            request,
            self._clock(),
            lambda item: loop.call_soon_threadsafe(inbox.put_nowait, item),
            **options,
        )

    def _enqueue(self, job: Job, *, max_waiting: int) -> None:
        engine = self.engine
        with self._changed:
            if self._status is not Status.SERVING:
                raise _shutting_down()
            self._places.enter(job, max_waiting=max_waiting, max_batch=engine.max_batch)

    def forget(self, owner: str) -> None:
        """Drop what is kept for an owner that has left and given up its requests."""
        with self._changed:
            self._errands.append(lambda engine: engine.forget(owner))
            self._changed.notify()

    async def perform(self, errand: Callable[[], object]) -> None:
        """Have something done on the worker's thread, between two turns; raises what it raises.

        Raises NotReady where the worker does not serve.
        """
        loop, done = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

        def act(engine: Engine) -> None:
            try:
                errand()
            except Exception as error:
                loop.call_soon_threadsafe(done.set_exception, error)
            else:
                loop.call_soon_threadsafe(done.set_result, None)

        with self._changed:
            if self._status is not Status.SERVING:
                raise NotReady("the model is not serving")
            self._errands.append(act)
            self._changed.notify()
        await done

    def close(self) -> None:
        """Take no new work, tell whoever waits, let the running requests end; then stop."""
        self.begin_closing()
        self._worker.join()

    def begin_closing(self) -> None:
        """Take no new work, and tell whoever waits; what runs goes on. Returns at once."""
        self._set_status(Status.CLOSED)
        self._places.turn_away(_shutting_down())

    def give_up_running(self) -> None:
        """Tell those whose requests run that they will not end; the model is free soon."""
        self._places.cut_off(_shutting_down())

    def has_ended(self, *, within_seconds: float) -> bool:
        """Whether the worker has ended; one that loads or hangs in a turn does not."""
        self._worker.join(within_seconds)
        return not self._worker.is_alive()

    def _set_status(self, status: Status) -> None:
        with self._changed:
            if self._status is not Status.CLOSED:  # which is for good
                self._status = status
            waiting, self._on_loaded = self._on_loaded, []
            self._changed.notify_all()
        for tell in waiting:
            tell()

    # The worker's own

    def _work(self) -> None:
        begun = self._clock()
        try:
            engine = self._load()
            self.chat_model = chat_model_of(self.card.alias, engine.vocabulary)
        except Exception as error:
            self._on_failure(error)
            self._set_status(Status.CLOSED)
            return
        with self._changed:
            self._engine = engine
            self._beat = self._clock()  # loading may have taken longer than the patience
        self._set_status(Status.SERVING)
        logger.info("the model is ready after %.1f s", self._clock() - begun)
        while self._await_work():
            self._places.admit(max_batch=engine.max_batch)
            turns.drop_ended(engine, self._places)
            # Only now: what an owner that left had still running has been released above.
            self._run_errands(engine)
            turns.take_turn(engine, self._places, self._clock)

    def _await_work(self) -> bool:
        """Wait until there is something to do; False once closed and out of work."""
        with self._changed:
            self._beat = self._clock()
            while not (any(self._places.counts()) or self._errands):
                if self._status is Status.CLOSED:
                    return False
                self._changed.wait(IDLE_BEAT_SECONDS)
                self._beat = self._clock()
        return True

    def _run_errands(self, engine: Engine) -> None:
        with self._changed:
            errands, self._errands = self._errands, []
        for errand in errands:
            try:
                errand(engine)
            except Exception as error:
                logger.error("an errand failed: %s", type(error).__name__)


def _shutting_down() -> ShuttingDown:
    return ShuttingDown(
        "the server is stopping; try again in a moment", retry_after_seconds=RESTART_SECONDS
    )


_current: Runtime | None = None


def install(runtime: Runtime | None) -> None:
    """Make this the process's runtime; None takes it away."""
    global _current
    _current = runtime


def current() -> Runtime:
    """The process's runtime. Raises NotReady in a process that serves no model."""
    if _current is None:
        raise NotReady("this process serves no model")
    return _current


def is_closing() -> bool:
    """Whether the process's runtime takes no new work, since the server stops."""
    return _current is not None and _current.is_closing
