"""What threads that share a pass wait by: the bell that wakes a helper, the clock, the nap."""

from __future__ import annotations

import threading
import time

from numba import njit

from inference.engine.kernels import memory
from inference.engine.kernels.team import _Desk

PATIENCE_SECONDS = 10.0


@njit
def nanoseconds():
    return memory.nanoseconds()


@njit(nogil=True)
def nap(duration):
    memory.nap(duration)


def sleeps_through(desk: _Desk) -> bool:
    """Whether a helper that goes to sleep now is not woken by what was rung before."""
    helper = threading.Thread(target=desk.sleep, daemon=True)
    helper.start()
    helper.join(0.1)
    return helper.is_alive()


def test_a_helper_that_was_rung_for_before_it_slept_looks_once_more():
    desk = _Desk()
    desk.ring()
    desk.ring()  # for the next pass: it is awake, and hears both at once
    assert not sleeps_through(desk)
    assert sleeps_through(desk)


def test_a_sleeping_helper_is_woken():
    desk = _Desk()
    helper = threading.Thread(target=desk.sleep, daemon=True)
    helper.start()
    desk.ring()
    helper.join(PATIENCE_SECONDS)
    assert not helper.is_alive()


def test_the_clock_is_that_of_the_system():
    before, between, after = time.monotonic_ns(), nanoseconds(), time.monotonic_ns()
    assert before <= between <= after


def test_a_nap_lasts_as_long_as_was_asked_for():
    nap(0)  # compiled
    begun = time.monotonic_ns()
    nap(3_000_000)
    assert time.monotonic_ns() - begun >= 3_000_000
