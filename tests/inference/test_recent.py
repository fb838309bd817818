"""The last hour, minute by minute."""

from __future__ import annotations

from inference.recent import MINUTES, Recent
from inference.reports import Outcome, Report
from tests.gates import Clock


def report(outcome=Outcome.FINISHED, seconds=1.0):
    return Report(
        outcome=outcome,
        prompt_tokens=1,
        reused_tokens=0,
        completion_tokens=1,
        queued_seconds=0.0,
        first_token_seconds=None,
        total_seconds=seconds,
    )


def test_what_ends_is_counted_in_its_minute():
    clock = Clock()
    clock.now = 100 * 60.0
    recent = Recent(clock)
    for seconds in (1.0, 9.0, 2.0):
        recent.note(report(seconds=seconds))
    recent.note(report(Outcome.FAILED))
    recent.note(report(Outcome.REFUSED))
    recent.note_rate_refusal()
    clock.now += 60
    recent.note(report(Outcome.CANCELLED))
    *rest, before, now = recent.minutes()
    assert (before.ended, before.failed, before.refused, before.median_seconds) == (4, 1, 2, 2.0)
    assert (now.ended, now.failed, now.refused, now.median_seconds) == (1, 0, 0, None)
    assert len(rest) == MINUTES - 2
    assert not any(minute.ended for minute in rest)


def test_what_is_older_than_an_hour_is_gone_and_quiet_minutes_are_there():
    clock = Clock()
    recent = Recent(clock)
    recent.note(report())
    clock.now += 59 * 60
    recent.note(report())
    assert [minute.ended for minute in recent.minutes()] == [1, *[0] * 58, 1]
    clock.now += 60
    assert [minute.ended for minute in recent.minutes()] == [*[0] * 58, 1, 0]


def test_a_clock_that_is_set_back_loses_nothing():
    clock = Clock()
    clock.now = 6000.0
    recent = Recent(clock)
    recent.note(report())
    clock.now = 5000.0
    recent.note(report())
    clock.now = 6000.0
    assert recent.minutes()[-1].ended == 2
