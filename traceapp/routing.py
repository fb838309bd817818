"""The table of socket paths, and who may open one at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from inference.models import current_limits
from traceapp.consumers import LiveTraceConsumer
from traceapp.middleware.origins import is_listed, is_own

Scope = Any  # as ASGI has them
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

FOREIGN_ORIGIN = 4403
UNKNOWN_PATH = 4404


async def no_such_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """Accepts, so that the client hears the code, and closes."""
    await receive()
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.close", "code": UNKNOWN_PATH})
    while (await receive())["type"] != "websocket.disconnect":
        pass


class AllowedOrigins:
    """Lets our own pages and listed sites open a socket; others get 403 for an answer.

    A program sends no Origin, and passes.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if await _is_welcome(dict(scope["headers"])):
            await self._application(scope, receive, send)
            return
        await receive()
        await send({"type": "websocket.close", "code": FOREIGN_ORIGIN})


async def _is_welcome(headers: dict[bytes, bytes]) -> bool:
    if (sent := headers.get(b"origin")) is None:
        return True
    origin, host = sent.decode("latin-1"), headers.get(b"host", b"").decode("latin-1")
    # A host that is not ours is a name that a foreign site made lead here.
    if validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS) and is_own(origin, host):
        return True
    return is_listed(origin, (await current_limits()).allowed_origins)


SOCKETS: dict[str, Any] = {"/ws/traces": LiveTraceConsumer.as_asgi()}


async def _by_path(scope: Scope, receive: Receive, send: Send) -> None:
    await SOCKETS.get(scope["path"], no_such_socket)(scope, receive, send)


socket_application = AllowedOrigins(_by_path)
