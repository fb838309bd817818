"""How often one client may use the model."""

from __future__ import annotations

import asyncio
import ipaddress
from functools import cache

from django.conf import settings
from django.http import HttpRequest

from inference import metrics
from inference.errors import RateLimited
from inference.keys import Key
from inference.limits import Limits
from inference.line import Caller
from traceapp.counting import Counter
from traceapp.keys import key_of


async def take_turn(request: HttpRequest, limits: Limits) -> None:
    """Count this request against its client.

    Raises RateLimited past the rate in force: the key's own, or the one of all who show none.
    """
    await take_turn_as(address_of(request), limits, key=key_of(request))


async def take_turn_as(address: str, limits: Limits, *, key: Key | None = None) -> None:
    """As `take_turn`, for a client at that address or with that key."""
    per_minute = limits.rate_per_minute if key is None else key.rate_per_minute
    if per_minute > 0:
        # Made on this one thread: several at once would each make one and count in their own.
        counter = _counter()
        await asyncio.to_thread(_count, counter, _client(address, key), per_minute)


def client_of(request: HttpRequest) -> str:
    """Whom a request is counted against."""
    return _client(address_of(request), key_of(request))


def caller_of(request: HttpRequest) -> Caller:
    """Whom a request shares turns and places as: all that a client sends is one lane."""
    client = client_of(request)
    return Caller(client=client, lane=client)


def caller_at(address: str, *, key: Key | None, socket: str) -> Caller:
    """As `caller_of`, for a live socket, each of which is a lane of its own."""
    return Caller(client=_client(address, key), lane=socket)


def address_of(request: HttpRequest) -> str:
    """The address that a request came from; behind proxies, what the outermost of them says."""
    return client_at(request.META.get("REMOTE_ADDR"), request.headers.get("X-Forwarded-For", ""))


def login_address(request: HttpRequest) -> str | None:
    """The address that tries to log in, as django-axes counts it; None where it is no address."""
    try:
        return str(ipaddress.ip_address(address_of(request)))
    except ValueError:
        return None


def client_at(peer: str | None, forwarded: str) -> str:
    """The caller's address: the peer's, or what the outermost trusted proxy says it was.

    With n proxies in front, the last n entries of X-Forwarded-For are theirs to write; what
    stands before them a caller may have made up.
    """
    peer = peer or "unknown"
    hops = [hop.strip() for hop in forwarded.split(",")]
    proxies = settings.TRACEAPP.proxies
    if proxies == 0 or len(hops) < proxies or not hops[-proxies]:
        return peer
    return hops[-proxies]


def _client(address: str, key: Key | None) -> str:
    return address if key is None else f"key:{key.pk}"


def _count(counter: Counter, client: str, per_minute: int) -> None:
    if (wait := counter.count(client, per_minute=per_minute)) is not None:
        metrics.count_rate_refusal()
        raise RateLimited(
            f"more than {per_minute} requests in a minute; wait a moment", retry_after_seconds=wait
        )


@cache
def _counter() -> Counter:
    return Counter(settings.TRACEAPP.redis_url)
