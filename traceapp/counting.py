"""
Clients' requests are counted in Redis for all processes, or else in this one.

While Redis is away each process counts by itself: a client gets at most the rate times the number
of processes, and nobody is sent away for a fault that is not theirs. The places to wait bound the
work in any case.
"""

from __future__ import annotations

import math
import time
from typing import Any, cast

from limits import RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import MemoryStorage, Storage, storage_from_string
from limits.strategies import RateLimiter, SlidingWindowCounterRateLimiter

from inference.storage import Store

REDIS = "Redis (rates are counted by each process until it is back)"
REDIS_SECONDS = 1.0  # for a connection, and for an answer


class Counter:
    """How many requests each client sent in the last minute; safe to use from several threads."""

    def __init__(self, redis_url: str | None) -> None:
        self._own = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._shared = None if redis_url is None else _in_redis(redis_url)
        self._redis = Store(REDIS)

    def count(self, client: str, *, per_minute: int) -> int | None:
        """Count one more. Past the rate: the seconds after which there is room again."""
        rate = RateLimitItemPerMinute(per_minute)
        if self._shared is None or self._redis.is_left_alone:
            return _hit(self._own, rate, client)
        begun = self._redis.now()
        try:
            wait = _hit(self._shared, rate, client)
        except StorageError as error:
            self._redis.failed(error, begun=begun)
            return _hit(self._own, rate, client)
        self._redis.succeeded()
        return wait


def _hit(limiter: RateLimiter, rate: RateLimitItemPerMinute, client: str) -> int | None:
    if limiter.hit(rate, client):
        return None
    return max(1, math.ceil(limiter.get_window_stats(rate, client).reset_time - time.time()))


def redis_storage(url: str) -> Storage:
    """Where counts are kept in Redis; it is connected to when it is first asked."""
    from redis.backoff import NoBackoff  # of an extra
    from redis.retry import Retry

    # One more try, for a connection that an earlier Redis has closed; theirs would be ten.
    options: dict[str, Any] = {
        "socket_connect_timeout": REDIS_SECONDS,
        "socket_timeout": REDIS_SECONDS,
        "retry": Retry(NoBackoff(), 1),
    }
    storage: Any = storage_from_string(url, wrap_exceptions=True, **options)
    return cast(Storage, storage)


def _in_redis(url: str) -> RateLimiter:
    return SlidingWindowCounterRateLimiter(redis_storage(url))
