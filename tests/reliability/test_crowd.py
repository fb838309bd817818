"""More clients than there are places."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field

import httpx
import pytest

from tests.reliability.clients import one_trace, watching
from tests.reliability.figures import p99, size

pytestmark = pytest.mark.timeout(400)

DEADLINE = 30.0


@dataclass
class Answers:
    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    resets: int = 0
    without_retry_after: int = 0


async def ask_for(seconds: float, client: httpx.AsyncClient, answers: Answers, **fields):
    """One client: it asks, waits as long as it is told to, and asks again."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        begun = time.monotonic()
        try:
            answer = await client.post("/v1/traces", json=one_trace(**fields))
        except httpx.TransportError:
            answers.resets += 1
            continue
        answers.seconds.append(time.monotonic() - begun)
        answers.statuses[answer.status_code] += 1
        if answer.status_code == 429:
            answers.without_retry_after += "Retry-After" not in answer.headers
            pause = float(answer.headers.get("Retry-After", "1"))
            await asyncio.sleep(min(pause, max(0.0, until - time.monotonic())))


def connected(server, *, address="127.0.0.1"):
    transport = httpx.AsyncHTTPTransport(
        local_address=address, limits=httpx.Limits(max_connections=None)
    )
    return httpx.AsyncClient(base_url=server.url, timeout=120, transport=transport)


async def test_a_crowd_is_served_or_told_when_to_come_back(server, row):
    """200 clients for 60 s."""
    clients, seconds = size(200, 60), size(60, 4)
    answers = Answers()
    with watching(server) as health:
        async with connected(server) as client:
            await asyncio.gather(
                *(ask_for(seconds, client, answers, seed=n) for n in range(clients))
            )
    others = sum(answers.statuses.values()) - answers.statuses[200] - answers.statuses[429]
    row.holds(
        "only 200 and 429, with Retry-After",
        f"{answers.statuses[200]} of 200, {answers.statuses[429]} of 429, {others} others",
        not others and not answers.without_retry_after and answers.statuses[200] > 0,
    )
    row.holds("no reset", f"{answers.resets}", answers.resets == 0)
    longest = max(answers.seconds)
    row.measures(
        "longest wait at most the deadline + 1 s", f"{longest:.1f} s", longest <= DEADLINE + 1
    )
    slowest = 1000 * p99(health)
    row.measures("/health p99 under 100 ms", f"{slowest:.0f} ms", slowest < 100)


async def test_a_greedy_client_does_not_shut_out_polite_ones(server, row):
    """One greedy client and ten polite ones."""
    seconds = size(30, 5)
    greedy, polite = Answers(), Answers()
    async with connected(server, address="127.0.0.2") as grabbing:
        crowd = [ask_for(seconds, grabbing, greedy, seed=n) for n in range(60)]
        others = [connected(server, address=f"127.0.0.{n}") for n in range(10, 20)]
        crowd += [ask_for(seconds, other, polite, max_new_tokens=8) for other in others]
        await asyncio.gather(*crowd)
        for other in others:
            await other.aclose()
    asked = sum(polite.statuses.values()) + polite.resets
    share = polite.statuses[200] / asked
    row.holds(
        "polite ones succeed in at least 95 %",
        f"{share:.0%} of {asked} (greedy: {greedy.statuses[200]} of "
        f"{sum(greedy.statuses.values())})",
        share >= 0.95,
    )
