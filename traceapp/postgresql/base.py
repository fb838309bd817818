"""
Django's PostgreSQL, but no query of a serving process waits without end.

A server that was stopped, or lies behind a network that swallows packets, keeps its connections
open and says nothing. psycopg would wait for it for ever, in a thread that its request needs.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base
from psycopg import Connection, OperationalError

Waiting = Generator[Any, Any, Any]


class DatabaseWrapper(base.DatabaseWrapper):
    """Queries end after `settings.QUERY_SECONDS`, unless that is None."""

    def get_new_connection(self, conn_params: Any) -> Any:
        connection = super().get_new_connection(conn_params)
        if settings.QUERY_SECONDS is not None:
            _bound(connection, settings.QUERY_SECONDS)
        return connection


def _bound(connection: Connection[Any], seconds: float) -> None:
    """Let each query of this connection wait for so many seconds at most."""
    unbounded = connection.wait

    def wait(gen: Waiting, *args: Any, **options: Any) -> Any:
        return unbounded(_until(gen, time.monotonic() + seconds, connection), *args, **options)

    connection.wait = wait  # type: ignore[method-assign]


def _until(gen: Waiting, deadline: float, connection: Connection[Any]) -> Waiting:
    """What psycopg waits for, which is asked about every tenth of a second."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() >= deadline:
                connection.close()  # nobody knows what it would say next
                raise OperationalError("the database does not answer in time")
            wanted = gen.send(ready)
    except StopIteration as end:
        return end.value
