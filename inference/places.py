"""
Who is with the model and who waits for it: counted places, served by turns.

`line` has the order and the sharing, `pace` what waiting costs. Every method may be called on any
thread. `changed` guards it all, and is notified when there is something new to do.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

from inference.errors import Busy, TraceError
from inference.jobs import Job
from inference.line import Line
from inference.pace import Pace
from inference.reports import Observer, Outcome

# Those who are refused together would come back together, and most would be refused again.
SPREAD = 2.0  # times the wait, added at most
GOLDEN = (math.sqrt(5) - 1) / 2  # its multiples lie evenly between 0 and 1, however many there are


class Places:
    """The running and the waiting jobs of one model."""

    def __init__(self, *, observer: Observer, clock: Callable[[], float]) -> None:
        self.changed = threading.Condition()
        self._running: list[Job] = []
        self._waiting = Line()
        self._pace = Pace()
        self._refusals = 0
        self._observer = observer
        self._clock = clock

    def counts(self) -> tuple[int, int]:
        """How many run and how many wait."""
        with self.changed:
            return len(self._running), len(self._waiting)

    def running(self) -> list[Job]:
        with self.changed:
            return list(self._running)

    def enter(self, job: Job, *, max_waiting: int, max_batch: int) -> None:
        """Take a place in the line. Raises Busy at once where there is none, or none in time."""
        with self.changed:
            must_wait = len(self._waiting) > 0 or not self._fits(job, max_batch)
            if must_wait and not job.keeps_place:
                self._make_room(job, max_waiting=max_waiting, max_batch=max_batch)
            self._waiting.add(job)
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
        """Move waiting jobs to the model as long as they fit, in the order of the line."""
        with self.changed:
            while self._waiting and self._fits(self._waiting.first, max_batch):
                job = self._waiting.take()
                job.admitted_at = self._clock()
                self._running.append(job)
                job.tell_place(0)
                self._tell_places()

    def end(self, job: Job, outcome: Outcome, error: TraceError | None = None) -> None:
        """A running job has left the model: free its place, then tell its caller."""
        now = self._clock()
        with self.changed:
            self._running.remove(job)
            if outcome is not Outcome.FAILED:
                self._pace.note(
                    job.seconds_with_the_model(now),
                    choices=job.request.num_choices,
                    is_whole=outcome is Outcome.FINISHED,
                )
        self._observer(job.report(outcome, now))
        job.tell(error)

    def turn_away(self, error: TraceError) -> None:
        """Tell whoever waits that there is nothing to wait for."""
        with self.changed:
            waiting = list(self._waiting)
            self._waiting = Line()
        for job in waiting:
            job.tell(error)

    def cut_off(self, error: TraceError) -> None:
        """Tell the callers of what runs, and let it end as if they had left."""
        for job in self.running():
            job.tell(error)
            job.cancelled.set()

    def _fits(self, job: Job, max_batch: int) -> bool:
        """Whether the job's choices can run beside the others'; alone, any number can."""
        return not self._running or self._choices() + job.request.num_choices <= max_batch

    def _choices(self) -> int:
        return sum(running.request.num_choices for running in self._running)

    # Room for one more

    def _make_room(self, job: Job, *, max_waiting: int, max_batch: int) -> None:
        """See that the job has a place and its time; raises Busy where that cannot be."""
        ahead = self._waiting.place_of_next(job.caller)
        late = self._late(job, ahead, max_batch)
        is_full = len(self._running) + len(self._waiting) >= max_batch + max_waiting
        if not is_full and not late:
            return
        among = ahead if late else len(self._waiting)
        other = self._waiting.who_makes_room_for(job.caller, among=among)
        if other is None or (late and self._late(job, ahead - 1, max_batch)):
            raise self._refusal(
                job, max_waiting=max_waiting, max_batch=max_batch, late=0 if is_full else late
            )
        self._turn_out(other, max_batch)

    def _late(self, job: Job, ahead: int, max_batch: int) -> int:
        """By how many seconds the job would miss its deadline behind so many of the line."""
        # So many must leave the model before this one fits.
        behind = ahead + self._choices() + 1 - max_batch
        return self._pace.seconds_late(behind, job.deadline - self._clock(), max_batch=max_batch)

    def _refusal(self, job: Job, *, max_waiting: int, max_batch: int, late: int) -> Busy:
        self._observer(job.report(Outcome.REFUSED, self._clock()))
        waiting, held = len(self._waiting), self._waiting.held_by(job.caller.client)
        if late:
            return Busy(
                f"the {waiting} requests that wait leave no time for this one before its "
                f"deadline; try again in {late} s",
                retry_after_seconds=late,
            )
        shared = f", {held} of them by this client" if held > 1 else ""
        return Busy(
            f"all {max_waiting} places to wait are taken{shared}; try again soon",
            retry_after_seconds=self._retry_after(max_batch),
        )

    def _turn_out(self, job: Job, max_batch: int) -> None:
        """Take a waiting job's place, for one whose client has fewer."""
        share = self._waiting.share()
        self._waiting.remove(job)
        self._observer(job.report(Outcome.REFUSED, self._clock()))
        job.tell(
            Busy(
                f"others need places to wait, of which one client keeps {share}; try again soon",
                retry_after_seconds=self._retry_after(max_batch),
            )
        )

    def _retry_after(self, max_batch: int) -> int:
        """Seconds until all who are here now have been served; of many who are refused in a row,
        some are told up to three times as long.
        """
        here = len(self._running) + len(self._waiting)
        added = SPREAD * (self._refusals * GOLDEN % 1)
        self._refusals += 1
        return self._pace.retry_after(round((1 + added) * here), max_batch=max_batch)

    def _tell_places(self) -> None:
        for position, job in enumerate(self._waiting, 1):
            job.tell_place(position)
