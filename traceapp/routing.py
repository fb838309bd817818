"""The table of socket paths, and who may open one at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from inference.errors import InvalidApiKey, StorageUnavailable
from inference.models import current_limits
from traceapp.consumers import LiveTraceConsumer
from traceapp.keys import admit_socket, comes_from_own_page
from traceapp.origins import is_listed

Scope = Any  # as ASGI has them
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

NO_KEY = 4401  # `socket_limits` makes these the status 401 and 503
NO_STORAGE = 4503
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
        else:
            await _refuse(receive, send, FOREIGN_ORIGIN)


class KeyHolders:
    """Lets whoever needs no API key or shows one that holds open a socket; others get 401."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await admit_socket(scope["headers"])
        except InvalidApiKey:
            await _refuse(receive, send, NO_KEY)
        except StorageUnavailable:  # which keys there are, nobody knows now
            await _refuse(receive, send, NO_STORAGE)
        else:
            await self._application(scope, receive, send)


async def _refuse(receive: Receive, send: Send, code: int) -> None:
    await receive()
    await send({"type": "websocket.close", "code": code})


async def _is_welcome(sent: dict[bytes, bytes]) -> bool:
    headers = {name: value.decode("latin-1") for name, value in sent.items()}
    origin = headers.get(b"origin")
    if origin is None or comes_from_own_page(headers):
        return True
    return is_listed(origin, (await current_limits()).allowed_origins)


SOCKETS: dict[str, Any] = {"/ws/traces": KeyHolders(LiveTraceConsumer.as_asgi())}


async def _by_path(scope: Scope, receive: Receive, send: Send) -> None:
    await SOCKETS.get(scope["path"], no_such_socket)(scope, receive, send)


socket_application = AllowedOrigins(_by_path)
