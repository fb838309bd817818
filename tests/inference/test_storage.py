"""A database that goes away: what is said, what goes on, and what the log has of it."""

from __future__ import annotations

import logging

import pytest
from django.db import IntegrityError, InterfaceError, OperationalError

from inference import models, storage
from inference.errors import StorageUnavailable
from inference.limits import Limits
from inference.models import LimitsRow, current_limits
from inference.storage import PAUSE_SECONDS, SLOW_SECONDS, Store, answered, as_storage_error

pytestmark = pytest.mark.django_db(transaction=True)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def database(monkeypatch, clock):
    store = Store("the database", clock=clock)
    monkeypatch.setattr(storage, "database", store)
    return store


@pytest.fixture
def away(monkeypatch, database):
    """Let every query of the limits fail; `away()` brings the database back."""

    async def fail(query):
        raise OperationalError("disk I/O error at /var/lib/secret")

    with monkeypatch.context() as patched:
        patched.setattr("django.db.models.query.QuerySet.afirst", fail)
        yield patched.undo


async def failing(error, *, clock=None, seconds=0.0):
    if clock is not None:
        clock.now += seconds
    raise error


@pytest.mark.parametrize("error", [OperationalError("gone"), InterfaceError("closed")])
async def test_a_query_that_the_database_does_not_answer_is_storage_unavailable(database, error):
    with pytest.raises(StorageUnavailable, match="the database") as raised:
        await answered(failing(error))
    assert raised.value.retry_after_seconds > 0


async def test_a_row_that_breaks_a_rule_is_no_fault_of_the_database(database):
    with pytest.raises(IntegrityError):
        await answered(failing(IntegrityError("twice")))
    assert as_storage_error(IntegrityError("twice")) is None


async def test_after_a_slow_failure_nobody_waits_until_a_pause_is_over(database, clock):
    with pytest.raises(StorageUnavailable):
        await answered(failing(OperationalError(), clock=clock, seconds=SLOW_SECONDS))
    asked = []

    async def query():
        asked.append(clock.now)
        return 7

    with pytest.raises(StorageUnavailable):
        await answered(query())
    assert asked == []
    clock.now += PAUSE_SECONDS
    assert await answered(query()) == 7


async def test_after_a_quick_failure_the_next_is_tried_at_once(database):
    with pytest.raises(StorageUnavailable):
        await answered(failing(OperationalError()))
    assert await answered(LimitsRow.objects.acount()) == 0


async def test_the_log_has_one_line_for_going_and_one_for_coming_without_the_message(
    database, caplog
):
    caplog.set_level(logging.INFO)
    for _ in range(3):
        with pytest.raises(StorageUnavailable):
            await answered(failing(OperationalError("password=hunter2")))
    for _ in range(3):
        await answered(LimitsRow.objects.acount())
    said = [record.getMessage() for record in caplog.records if record.name == storage.__name__]
    assert said == ["the database fails: OperationalError", "the database answers again"]


async def test_while_it_is_away_the_last_known_limits_hold_and_then_the_row_again(away):
    models._last_known = Limits(rate_per_minute=7, key_required=True)
    for _ in range(2):
        limits = await current_limits()
        assert (limits.rate_per_minute, limits.key_required) == (7, True)
    away()
    await LimitsRow.objects.acreate(pk=1, rate_per_minute=9)
    assert (await current_limits()).rate_per_minute == 9


async def test_limits_that_were_never_known_are_not_made_up(away, monkeypatch):
    monkeypatch.setattr(models, "_last_known", None)
    with pytest.raises(StorageUnavailable):
        await current_limits()
