"""
What of a socket daphne itself must do: bound a frame, wait for a slow reader, say goodbye.

Daphne takes its own bounds for what it sends too, and drops the connection without a code where
a client crosses one. And it never waits for a slow reader: here it stops to read from whoever
does not read from us, so that nobody can ask for answers without end and let them pile up. When
the server stops, each client is told, which daphne forgets within a second of a socket's opening.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from autobahn.exception import Disconnected
from autobahn.websocket.types import ConnectionDeny
from daphne import ws_protocol
from twisted.internet import reactor as _reactor
from twisted.internet.defer import Deferred, DeferredList

reactor: Any = _reactor  # chosen at run time, so its module does not say what it is

KIB = 1024
MAX_FRAME_BYTES = 16 * KIB  # as the body of POST /v1/traces
MAX_REASON_BYTES = 123  # what a close frame has room for
GOING_AWAY = 1001
# What an application refuses a socket with before it opens, as a status; any other code is 403.
DENIALS = {4401: (401, "Unauthorized"), 4503: (503, "Service Unavailable")}

_open: set[BoundedSocket] = set()


def bound_sockets() -> None:
    """Make every daphne of this process use our sockets. Calling it again changes nothing."""
    if ws_protocol.WebSocketFactory.protocol is not BoundedSocket:
        ws_protocol.WebSocketFactory.protocol = BoundedSocket
        reactor.addSystemEventTrigger("before", "shutdown", _say_goodbye)


def _say_goodbye() -> Deferred[Any]:
    """Close all sockets; done once they are, which autobahn waits a second for."""
    for each in list(_open):
        each.handle_reply({"type": "websocket.close", "code": GOING_AWAY})
    return DeferredList([each.is_closed for each in _open])


class BoundedSocket(ws_protocol.WebSocketProtocol):  # type: ignore[misc]
    """A socket with our bounds. The names are autobahn's and Twisted's."""

    maxFramePayloadSize = MAX_FRAME_BYTES  # noqa: N815
    maxMessagePayloadSize = MAX_FRAME_BYTES  # noqa: N815
    # Say why with a code: 1009 too large, 1007 not UTF-8, 1002 not a WebSocket's frame.
    failByDrop = False  # noqa: N815

    def connectionMade(self) -> None:  # noqa: N802
        super().connectionMade()
        # The HTTP channel stands there still, and it does nothing.
        self.transport.unregisterProducer()
        self.transport.registerProducer(self, True)

    def onOpen(self) -> None:  # noqa: N802
        _open.add(self)
        super().onOpen()

    def onClose(self, *args: Any) -> None:  # noqa: N802
        _open.discard(self)
        super().onClose(*args)

    def handle_reply(self, message: Any) -> None:
        """What the application says. Daphne could not close with a code below 3000 but 1000."""
        if message["type"] != "websocket.close":
            super().handle_reply(message)
        elif self.state == self.STATE_CONNECTING:
            self._deny(message.get("code"))
        elif self.state == self.STATE_OPEN:
            reason = (message.get("reason") or "").encode()[:MAX_REASON_BYTES]
            self.sendCloseFrame(code=message.get("code", 1000), reasonUtf8=reason, isReply=False)

    def _deny(self, code: int | None) -> None:
        if code not in DENIALS:
            self.serverReject()
            return
        # As serverReject does, which knows 403 alone.
        denial: Any = ConnectionDeny
        self.handshake_deferred.errback(denial(*DENIALS[code]))
        del self.handshake_deferred
        self.server.protocol_disconnected(self)

    def sendHttpErrorResponse(  # noqa: N802
        self,
        code: int,
        reason: str,
        responseHeaders: Any = None,  # noqa: N803
    ) -> None:
        headers = list(responseHeaders or [])
        if code == 401:
            headers.append(("WWW-Authenticate", "Bearer"))
        super().sendHttpErrorResponse(code, reason, headers)

    def sendMessage(self, *args: Any, **options: Any) -> None:  # noqa: N802
        self.maxMessagePayloadSize = 0  # unbounded: a finished trace is larger than any request
        try:
            with suppress(Disconnected):  # by what the client did a moment ago: nobody hears it
                super().sendMessage(*args, **options)
        finally:
            self.maxMessagePayloadSize = MAX_FRAME_BYTES

    def pauseProducing(self) -> None:  # noqa: N802
        """More than 64 KiB wait to be read by the client: its next frames wait too."""
        self.transport.pauseProducing()

    def resumeProducing(self) -> None:  # noqa: N802
        self.transport.resumeProducing()

    def stopProducing(self) -> None:  # noqa: N802
        """The connection is lost; there is nothing to stop."""
