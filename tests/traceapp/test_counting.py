"""Rates in Redis, and in the process while Redis is away."""

from __future__ import annotations

import logging
import socket

import pytest
from limits.errors import StorageError
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from inference.storage import PAUSE_SECONDS, SLOW_SECONDS, Store
from traceapp import counting
from traceapp.counting import Counter


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class FlakyLimiter(SlidingWindowCounterRateLimiter):
    """Counts in memory, or fails after so many seconds."""

    def __init__(self, clock):
        super().__init__(MemoryStorage())
        self.clock = clock
        self.fails_after = None
        self.asked = 0

    def hit(self, *arguments, **options):
        self.asked += 1
        if self.fails_after is not None:
            self.clock.now += self.fails_after
            raise StorageError(ConnectionError("gone"))
        return super().hit(*arguments, **options)


@pytest.fixture
def redis(monkeypatch):
    clock = Clock()
    made = FlakyLimiter(clock)
    monkeypatch.setattr(counting, "_in_redis", lambda url: made)
    monkeypatch.setattr(counting, "Store", lambda name: Store(name, clock=clock))
    return made


def let_through(counter, times, *, per_minute):
    return sum(counter.count("ada", per_minute=per_minute) is None for _ in range(times))


def test_while_redis_is_away_the_rate_is_kept_by_the_process(redis):
    counter = Counter("redis://somewhere")
    assert let_through(counter, 5, per_minute=3) == 3
    redis.fails_after = 0.0
    assert let_through(counter, 5, per_minute=3) == 3
    redis.fails_after = None
    assert let_through(counter, 5, per_minute=3) == 0  # which it knew before


def test_a_redis_that_hangs_costs_one_request_its_time_and_not_every(redis):
    counter = Counter("redis://somewhere")
    redis.fails_after = SLOW_SECONDS
    assert let_through(counter, 5, per_minute=100) == 5
    assert redis.asked == 1
    redis.clock.now += PAUSE_SECONDS
    assert let_through(counter, 5, per_minute=100) == 5
    assert redis.asked == 2


def test_the_log_says_once_that_redis_is_away_and_once_that_it_is_back(redis, caplog):
    caplog.set_level(logging.INFO)
    counter = Counter("redis://:hunter2@somewhere")
    redis.fails_after = 0.0
    let_through(counter, 3, per_minute=100)
    redis.fails_after = None
    let_through(counter, 3, per_minute=100)
    first, second = (record.getMessage() for record in caplog.records)
    assert first.startswith("Redis")
    assert first.endswith("fails: StorageError")
    assert second.startswith("Redis")
    assert second.endswith("answers again")
    assert "hunter2" not in first + second


def test_a_port_where_nobody_listens_counts_as_away():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        counter = Counter(f"redis://127.0.0.1:{taken.getsockname()[1]}/0")
        assert let_through(counter, 3, per_minute=2) == 2
