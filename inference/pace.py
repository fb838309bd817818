"""How fast the model serves: from what lately ran to when one who waits would be done."""

from __future__ import annotations

import math

WEIGHT = 0.2  # of one request in the moving means
ENOUGH = 5  # requests, before anybody is turned away because of the means


class Pace:
    """Moving means over the requests that left the model. A choice takes one lane of the batch."""

    def __init__(self) -> None:
        self._lane_seconds = 1.0  # of a request, over all its choices
        self._seconds = 1.0  # from its start to its end
        self._jobs = 0

    def note(self, seconds: float, *, choices: int, is_whole: bool) -> None:
        """A request has left the model after that long; one that was cut off counts if slow."""
        if is_whole or seconds > self._seconds:
            self._seconds += WEIGHT * (seconds - self._seconds)
            self._lane_seconds += WEIGHT * (seconds * choices - self._lane_seconds)
            self._jobs += 1

    def retry_after(self, ahead: int, *, max_batch: int) -> int:
        """Whole seconds, at least one, until so many requests have been served."""
        return max(1, round(self._seconds_of(ahead, max_batch)))

    def seconds_late(self, ahead: int, seconds_left: float, *, max_batch: int) -> int:
        """By how much a request that waits for so many will miss its deadline; 0 if it will not.

        Also 0 for one that need not wait, and while too little ran to tell.
        """
        if self._jobs < ENOUGH or ahead <= 0:
            return 0
        return max(0, math.ceil(self._seconds_of(ahead, max_batch) + self._seconds - seconds_left))

    def _seconds_of(self, requests: int, max_batch: int) -> float:
        return requests * self._lane_seconds / max_batch
