"""
The line of those who wait: in which order they are served, and who must make room.

Lanes take turns: one request of each, then the next of each that has more. A lane is one live
socket, so that thirty browsers behind one address are thirty; or all that one client sends over
HTTP. A lane that comes, or comes back, joins behind the others. So one that sends forty requests
keeps nobody waiting for more than one of them, and among lanes of one request each, who came first
is served first.

Places are shared between clients: an address or an API key, with all its lanes. While places are
free anybody may take them. Once there are none, a client that has more than a quarter of them makes
room for one that has less, by the request of its own that would have been served last.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inference.jobs import Job

SHARE = 4  # a client is safe with one place of so many


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. Neither name is shown to anybody."""

    client: str  # an address or an API key
    lane: str  # a live socket, or the client itself


def share_of(places: int) -> int:
    return max(1, places // SHARE)


class Line:
    """The waiting jobs, next first. Not safe to be used from two threads at once."""

    def __init__(self) -> None:
        self._lanes: dict[str, deque[Job]] = {}  # none is empty; the next to be served is first

    def __len__(self) -> int:
        return sum(map(len, self._lanes.values()))

    def __iter__(self) -> Iterator[Job]:
        rounds = zip_longest(*self._lanes.values())
        return (job for round in rounds for job in round if job is not None)

    def __contains__(self, job: Job) -> bool:
        return job in self._lanes.get(job.caller.lane, ())

    @property
    def first(self) -> Job:
        return next(iter(self))

    def place_of_next(self, caller: Caller) -> int:
        """How many would be served before a job of this caller that came now."""
        own = len(self._lanes.get(caller.lane, ()))
        ahead, round = 0, own + 1  # lanes before ours are served as often as we are, then once less
        for lane, jobs in self._lanes.items():
            if lane == caller.lane:
                round = own
            ahead += min(len(jobs), round)
        return ahead

    def add(self, job: Job) -> None:
        self._lanes.setdefault(job.caller.lane, deque()).append(job)

    def take(self) -> Job:
        """Take the first out of the line, for it is served; its lane goes behind the others."""
        lane, jobs = next(iter(self._lanes.items()))
        del self._lanes[lane]
        job = jobs.popleft()
        if jobs:
            self._lanes[lane] = jobs
        return job

    def remove(self, job: Job) -> None:
        """Take one out that leaves unserved; what its lane has besides moves up."""
        jobs = self._lanes[job.caller.lane]
        jobs.remove(job)
        if not jobs:
            del self._lanes[job.caller.lane]

    def held_by(self, client: str) -> int:
        """How many places a client has."""
        return sum(job.caller.client == client for job in self)

    def share(self) -> int:
        """How many places of those that are taken a client keeps, whoever else needs one."""
        return share_of(len(self))

    def who_makes_room_for(self, caller: Caller, *, among: int) -> Job | None:
        """The job that gives its place up; None where nobody has more than a client's share.

        It is one of the first `among` of the line. What has begun elsewhere keeps its place.
        """
        share = self.share()
        if self.held_by(caller.client) >= share:
            return None
        held = Counter(job.caller.client for job in self)
        (client, most) = max(held.items(), key=lambda entry: entry[1], default=("", 0))
        if most <= share:
            return None
        return next(
            (
                job
                for job in reversed(list(self)[:among])
                if job.caller.client == client and not job.keeps_place
            ),
            None,
        )
