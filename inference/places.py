"""
Who is with the model and who waits for it: counted places, first come, first served.

Every method may be called on any thread. `changed` guards it all, and is notified when there is
something new to do.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from inference.errors import Busy, TraceError
from inference.jobs import Job
from inference.reports import Observer, Outcome


class Places:
    """The running and the waiting jobs of one model."""

    def __init__(self, *, observer: Observer, clock: Callable[[], float]) -> None:
        self.changed = threading.Condition()
        self._running: list[Job] = []
        self._waiting: deque[Job] = deque()
        self._observer = observer
        self._clock = clock
        self._seconds_a_job = 1.0  # a moving mean, for Retry-After

    def counts(self) -> tuple[int, int]:
        """How many run and how many wait."""
        with self.changed:
            return len(self._running), len(self._waiting)

    def running(self) -> list[Job]:
        with self.changed:
            return list(self._running)

    def enter(self, job: Job, *, max_waiting: int, max_batch: int) -> None:
        """Take a place at the end of the queue. Raises Busy at once where there is none."""
        with self.changed:
            taken = len(self._running) + len(self._waiting)
            if taken >= max_batch + max_waiting:
                self._observer(job.report(Outcome.REFUSED, self._clock()))
                raise Busy(
                    f"all {max_waiting} places to wait are taken; try again soon",
                    retry_after_seconds=max(1, round(taken * self._seconds_a_job / max_batch)),
                )
            must_wait = bool(self._waiting) or not self._fits(job, max_batch)
            self._waiting.append(job)
            if must_wait:
                self._tell_places()
            self.changed.notify_all()

    def give_up(self, job: Job) -> None:
        """The caller has left: a waiting job's place is free at once, a running one's soon."""
        job.cancelled.set()
        with self.changed:
            if job in self._waiting:
                self._waiting.remove(job)
                self._observer(job.report(Outcome.CANCELLED, self._clock()))
                job.tell(None)
                self._tell_places()

    def admit(self, *, max_batch: int) -> None:
        """Move waiting jobs to the model as long as they fit, oldest first."""
        with self.changed:
            while self._waiting and self._fits(self._waiting[0], max_batch):
                job = self._waiting.popleft()
                job.admitted_at = self._clock()
                self._running.append(job)
                job.tell_place(0)
                self._tell_places()

    def end(self, job: Job, outcome: Outcome, error: TraceError | None = None) -> None:
        """A running job has left the model: free its place, then tell its caller."""
        now = self._clock()
        with self.changed:
            self._running.remove(job)
            if outcome is Outcome.FINISHED:
                seconds = job.seconds_with_the_model(now)
                self._seconds_a_job += 0.2 * (seconds - self._seconds_a_job)
        self._observer(job.report(outcome, now))
        job.tell(error)

    def turn_away(self, error: TraceError) -> None:
        """Tell whoever waits that there is nothing to wait for."""
        with self.changed:
            waiting = list(self._waiting)
            self._waiting.clear()
        for job in waiting:
            job.tell(error)

    def _fits(self, job: Job, max_batch: int) -> bool:
        """Whether the job's choices can run beside the others'; alone, any number can."""
        choices = sum(running.request.num_choices for running in self._running)
        return not self._running or choices + job.request.num_choices <= max_batch

    def _tell_places(self) -> None:
        for position, job in enumerate(self._waiting, 1):
            job.tell_place(position)
