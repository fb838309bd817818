"""The last hour, minute by minute: how many requests ended, and how long they took. No text."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median

from inference.reports import Outcome, Report

MINUTES = 60
MOST_TIMES = 500  # kept of one minute, for its median


@dataclass(slots=True)
class Minute:
    number: int  # since 1970
    ended: int = 0
    failed: int = 0
    refused: int = 0  # as busy, or by a rate
    seconds: list[float] = field(default_factory=list)  # of those that finished

    @property
    def median_seconds(self) -> float | None:
        return median(self.seconds) if self.seconds else None


class Recent:
    """Counts of this process. May be used on any thread."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._minutes: deque[Minute] = deque(maxlen=MINUTES)

    def note(self, report: Report) -> None:
        """A request has left the model, or was not let in."""
        with self._lock:
            now = self._now()
            if report.outcome is Outcome.REFUSED:
                now.refused += 1
                return
            now.ended += 1
            now.failed += report.outcome is Outcome.FAILED
            if report.outcome is Outcome.FINISHED and len(now.seconds) < MOST_TIMES:
                now.seconds.append(report.total_seconds)

    def note_rate_refusal(self) -> None:
        with self._lock:
            self._now().refused += 1

    def minutes(self) -> list[Minute]:
        """The last hour, oldest first; a minute in which nothing came is there too."""
        with self._lock:
            last = int(self._clock() // 60)
            known = {
                each.number: Minute(
                    each.number, each.ended, each.failed, each.refused, list(each.seconds)
                )
                for each in self._minutes
            }
        wanted = range(last - MINUTES + 1, last + 1)
        return [known.get(number, Minute(number)) for number in wanted]

    def _now(self) -> Minute:
        number = int(self._clock() // 60)
        # A clock that was set back counts on in the last minute.
        if not self._minutes or self._minutes[-1].number < number:
            self._minutes.append(Minute(number))
        return self._minutes[-1]


RECENT = Recent()
