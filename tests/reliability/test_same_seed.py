"""A seed gives one text, whoever else is served."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.reliability.clients import one_trace, without_times
from tests.reliability.figures import size

pytestmark = pytest.mark.timeout(600)


def test_a_seed_gives_the_same_bits_idle_and_under_load(server, row):
    """Same seed 100 times, idle and under load."""
    times = size(100, 6)
    body = one_trace(prompt="The best thing about", temperature=1.1, top_p=0.95, seed=7)
    over = threading.Event()
    with httpx.Client(base_url=server.url, timeout=120) as client:

        def same(_):
            return without_times(client.post("/v1/traces", json=body).json())

        def disturb(number):
            while not over.is_set():
                other = one_trace(prompt=f"{number} bottles", temperature=2, seed=number)
                client.post("/v1/traces", json=other)

        idle = [same(None) for _ in range(times)]
        with ThreadPoolExecutor(6) as pool:
            others = [pool.submit(disturb, number) for number in range(3)]
            loaded = list(pool.map(same, range(times)))
            over.set()
        for other in others:
            other.result()
    different = sum(trace != idle[0] for trace in [*idle, *loaded])
    row.holds(
        "identical apart from timings",
        f"{len(idle)} idle and {len(loaded)} under load, {different} different",
        different == 0,
    )
    assert len(idle[0]["steps"]) > 1
