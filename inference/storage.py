"""
The database may go away, be slow or be full: then what needs it is refused, and nothing hangs.

Our own queries go through `answered`. Those of the admin site and of Django's sessions fail as
Django lets them; `as_storage_error` knows these too.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from asgiref.sync import sync_to_async
from django.db import InterfaceError, OperationalError, close_old_connections, connection

from inference.errors import StorageUnavailable

logger = logging.getLogger(__name__)

T = TypeVar("T")

DATABASE = "the database"
RETRY_SECONDS = 5  # what a client is told to wait
SLOW_SECONDS = 1.0  # after a failure that took so long, nobody waits for the next one
PAUSE_SECONDS = 5.0
FAULTS = (OperationalError, InterfaceError)


class Store:
    """One that may go away: whether it is worth asking now. Its going and coming are logged."""

    def __init__(self, name: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self.now = clock
        self._left_alone_until = 0.0
        self._is_away = False

    @property
    def is_left_alone(self) -> bool:
        return self.now() < self._left_alone_until

    def failed(self, error: BaseException, *, begun: float | None = None) -> None:
        """It was asked, at that time by `now`, and failed."""
        if begun is not None and self.now() - begun >= SLOW_SECONDS:
            self._left_alone_until = self.now() + PAUSE_SECONDS
        if not self._is_away:
            self._is_away = True
            # The class alone: a message may quote what was to be stored, or a password.
            logger.error("%s fails: %s", self._name, type(error).__name__)

    def succeeded(self) -> None:
        if self._is_away:
            self._is_away = False
            logger.warning("%s answers again", self._name)


database = Store(DATABASE)


async def answered(query: Coroutine[Any, Any, T]) -> T:
    """What the database says. Raises StorageUnavailable where it cannot."""
    if database.is_left_alone:
        query.close()
        raise unavailable(DATABASE)
    begun = database.now()
    try:
        answer = await query
    except FAULTS as error:
        database.failed(error, begun=begun)
        await _let_go()  # else a socket would keep a broken connection
        raise unavailable(DATABASE) from error
    database.succeeded()
    if connection.vendor != "sqlite":
        # Who waits for the model is to hold none: a server has only so many.
        await _let_go()
    return answer


_let_go = sync_to_async(close_old_connections)


def unavailable(store: str) -> StorageUnavailable:
    return StorageUnavailable(
        f"{store} cannot be reached or written to; try again in {RETRY_SECONDS} seconds",
        retry_after_seconds=RETRY_SECONDS,
    )


def as_storage_error(error: BaseException | None) -> StorageUnavailable | None:
    """What to answer where an error of the database got through; None for any other."""
    if isinstance(error, StorageUnavailable):
        return error
    if isinstance(error, FAULTS):
        database.failed(error)
        return unavailable(DATABASE)
    return None
