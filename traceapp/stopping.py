"""
How the server ends: at the first signal well, at the second at once.

From the first on the model takes no new work: who waits is told, `/health` says not_ready, and a
new request gets 503 `shutting_down`. What runs may end; what still runs when the time is nearly
over is told too. Each live socket is closed with 1001 once its run has ended. Then the address is
closed and the reactor stops, which ends the process with status 0.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable
from typing import Any

from daphne.http_protocol import WebRequest
from twisted.internet import reactor as _reactor

from inference import runtime
from inference.errors import NotReady
from traceapp.consumers import open_sockets

logger = logging.getLogger(__name__)
reactor: Any = _reactor  # chosen at run time, so its module does not say what it is

SIGNALS = (signal.SIGINT, signal.SIGTERM)
STOPPED_AT_ONCE = 1  # the exit status after a second signal
LAST_WORDS_SECONDS = 2.0  # of the time to stop: to tell those who still run
LOOK_SECONDS = 0.05
ARRIVING_SECONDS = 0.25  # in which a request on a connection that was just taken is read


class Stopping:
    """Stops one daphne when a signal says so."""

    def __init__(self, server: Any, *, seconds: float) -> None:
        self._server = server
        self._seconds = seconds
        self._task: asyncio.Task[None] | None = None
        self._begun = False

    def listen_to_signals(self) -> None:
        """Must be called on the main thread, once the reactor runs."""
        for each in SIGNALS:
            signal.signal(each, self._on_signal)

    def _on_signal(self, number: int, frame: object) -> None:
        if self._begun:
            logger.warning("a second signal: stopping at once")
            logging.shutdown()
            os._exit(STOPPED_AT_ONCE)
        self._begun = True
        reactor.callFromThread(self._begin)

    def _begin(self) -> None:
        logger.info("stopping: what runs has %g s to end", self._seconds)
        self._task = asyncio.get_event_loop().create_task(self._stop())

    async def _stop(self) -> None:
        deadline = time.monotonic() + self._seconds
        try:
            serving = runtime.current()
        except NotReady:
            pass
        else:
            serving.begin_closing()
            for each in open_sockets():
                each.wind_down()
            last_words_at = deadline - min(LAST_WORDS_SECONDS, self._seconds / 2)
            if not await _until(self._is_idle, last_words_at):
                serving.give_up_running()
                await _until(self._is_idle, deadline)
        for listener in self._server.listeners:
            listener.addCallback(lambda port: port and port.stopListening())
        await asyncio.sleep(ARRIVING_SECONDS)
        # What came while the others ended is short: no new work was taken.
        await _until(self._is_idle, max(deadline, time.monotonic() + 1))
        reactor.stop()

    def _is_idle(self) -> bool:
        """Whether nobody is owed an answer, or the end of a run."""
        answering = any(
            isinstance(protocol, WebRequest)
            and "disconnected" not in details
            and "application_instance" in details
            for protocol, details in self._server.connections.items()
        )
        return not answering and not any(each.is_running for each in open_sockets())


async def _until(is_so: Callable[[], bool], deadline: float) -> bool:
    while not is_so():
        if time.monotonic() >= deadline:
            return False
        await asyncio.sleep(LOOK_SECONDS)
    return True
