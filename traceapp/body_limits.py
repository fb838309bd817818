"""
Refuses a request body that is too large, before it is held.

Daphne reads a whole body before any application code runs, so no middleware can do this. The
limit is therefore laid on daphne's own request class: over it, the answer is sent at once and
the rest of the body is read and dropped for a short while. (A server that closes while a client
still writes makes the client's system throw away the answer.)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

from daphne import http_protocol
from twisted.internet import reactor as _reactor

from inference.errors import PayloadTooLarge
from inference.models import last_known_limits
from traceapp.api.dialects import error_body
from traceapp.middleware.origins import EXPOSED
from traceapp.origins import is_listed
from traceapp.request_ids import HEADER, request_id_of

reactor: Any = _reactor  # chosen at run time, so its module does not say what it is

KIB = 1024
DEFAULT_LIMIT = 1024 * KIB
LIMITS = {
    # A prompt of 1,000 characters is at most 12,000 bytes, each an escaped surrogate pair.
    "/v1/traces": 16 * KIB,
    # 32 steps of 11 tokens, each with its bytes, are some 60 KiB.
    "/v1/shared-traces": 512 * KIB,
}

DRAIN_SECONDS = 5.0


def limit_for(path: str) -> int:
    """The largest body that this path takes, in bytes; the path may be percent-encoded."""
    return LIMITS.get(unquote(path), DEFAULT_LIMIT)


def too_large(limit: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"the request body is over the limit of {limit} bytes")


def reason_of(status: int) -> bytes:
    """The words beside a status, such as Unprocessable Content for 422."""
    try:
        return HTTPStatus(status).phrase.encode()
    except ValueError:
        return b""


def refuse_large_bodies() -> None:
    """Lay the limits on every daphne of this process. Calling it again changes nothing."""
    # Daphne's factory looks the class up by this name for each connection.
    http_protocol.WebRequest = BoundedRequest


class BoundedRequest(http_protocol.WebRequest):  # type: ignore[misc]
    """A request that is refused once its size shows. The methods' names are Twisted's."""

    refused = False
    received = 0
    asked = ""  # the path
    limit = DEFAULT_LIMIT
    content_types: Sequence[bytes] = ()

    def gotLength(self, length: int | None) -> None:  # noqa: N802
        self.asked = self.channel._path.split(b"?", 1)[0].decode("latin-1")
        self.limit = limit_for(self.asked)
        super().gotLength(None if length is None else min(length, self.limit))
        if length is not None and length > self.limit:
            _refuse(self)

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
        self.received += len(data)
        if self.received > self.limit:
            _refuse(self)
        else:
            super().handleContentChunk(data)

    def setResponseCode(self, code: int, message: bytes | None = None) -> None:  # noqa: N802
        """With the status's own words, of which Twisted does not know the newer ones."""
        super().setResponseCode(code, message or reason_of(code))

    def requestReceived(self, *args: bytes) -> None:  # noqa: N802
        if self.refused:
            return
        # Twisted would read a form here, for nobody, and answer one that it cannot read by itself.
        self.content_types = self.requestHeaders.getRawHeaders(b"content-type", [])
        self.requestHeaders.removeHeader(b"content-type")
        super().requestReceived(*args)

    def process(self) -> Any:
        if self.content_types:
            self.requestHeaders.setRawHeaders(b"content-type", self.content_types)
        return super().process()


def _refuse(request: BoundedRequest) -> None:
    if request.refused:
        return
    request.refused = True
    error = too_large(request.limit)
    body = json.dumps(error_body(error, path=unquote(request.asked), status=413)).encode()
    # Else Twisted would follow the answer with "100 Continue".
    request.requestHeaders.removeHeader(b"expect")
    transport = request.channel.transport
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        HEADER: request_id_of(_sent(request, HEADER)),
        "Vary": "Origin",
    }
    # As of the last request: what is in the database cannot be waited for here.
    origin = _sent(request, "Origin")
    if origin is not None and is_listed(origin, last_known_limits().allowed_origins):
        headers |= {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": EXPOSED}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    status = b"HTTP/1.1 413 " + reason_of(413)
    transport.write(status + b"\r\n" + lines.encode("latin-1") + b"\r\n" + body)
    transport.loseWriteConnection()
    reactor.callLater(DRAIN_SECONDS, transport.abortConnection)


def _sent(request: BoundedRequest, name: str) -> str | None:
    """A header as it was sent; None where it was not, or more than once."""
    values = request.requestHeaders.getRawHeaders(name.encode(), [])
    return values[0].decode("latin-1") if len(values) == 1 else None
