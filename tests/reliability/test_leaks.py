"""What stays behind after many traces, and after many clients that left."""

from __future__ import annotations

import json
import random
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx
import pytest
from websockets.sync.client import connect

from tests.reliability.clients import (
    counters,
    files_of,
    in_flight,
    one_trace,
    request_bytes,
    settled,
    threads_of,
    wait_until_idle,
    without_times,
)
from tests.reliability.figures import size

pytestmark = pytest.mark.timeout(1800)

MEGABYTE = 1_000_000


def slope(points):
    """The slope of the straight line that fits best."""
    n = len(points)
    mean_x, mean_y = sum(x for x, _ in points) / n, sum(y for _, y in points) / n
    across = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return across / sum((x - mean_x) ** 2 for x, _ in points)


def test_many_traces_leave_nothing_behind(server, row):
    """5,000 traces after 500."""
    before, traces = size(500, 40), size(5000, 80)

    def trace(client, number):
        body = one_trace(prompt=f"Number {number} is", max_new_tokens=2, seed=number)
        return client.post("/v1/traces", json=body).status_code

    def batch(numbers):
        """From a client of its own, so that what is counted after it is the server's alone."""
        # More at once than the server has threads, so that it has all of them before.
        with (
            httpx.Client(base_url=server.url, timeout=120) as client,
            ThreadPoolExecutor(16) as pool,
        ):
            assert set(pool.map(partial(trace, client), numbers)) == {200}

    def held():
        wait_until_idle(server)
        return settled(threads_of, server), settled(files_of, server)

    batch(range(before))
    threads, files = held()
    memory = []
    step = traces // 20
    for done in range(0, traces, step):
        batch(range(before + done, before + done + step))
        memory.append(((done + step) / 1000, server.memory() / MEGABYTE))
    after = held()
    grown = slope(memory)
    row.measures("memory grows under 1 MB per 1,000", f"{grown:.2f} MB", grown < 1)
    row.holds(
        "threads and file handles back to base",
        f"{after[0] - threads:+d} threads, {after[1] - files:+d} handles",
        after[0] <= threads and after[1] <= files,
    )


def leave_http(server, chance):
    with socket.create_connection(server.address) as connection:
        connection.sendall(request_bytes(one_trace()))
        time.sleep(chance.uniform(0, 0.3))  # at any moment of a trace's life


def leave_stream(server, chance):
    body = {"prompt": "1, 2, 3,", "max_tokens": 64, "stream": True, "logprobs": 5}
    with socket.create_connection(server.address) as connection:
        connection.sendall(request_bytes(body, "/v1/completions"))
        time.sleep(chance.uniform(0, 0.3))


def leave_socket(server, chance):
    host, port = server.address
    with connect(f"ws://{host}:{port}/ws/traces", max_size=None) as wire:
        wire.send(json.dumps({"type": "start", "id": "a", "trace": one_trace()}))
        time.sleep(chance.uniform(0, 0.3))
        wire.socket.shutdown(socket.SHUT_RDWR)  # without a word


def test_clients_that_leave_free_the_model(server, row):
    """200 disconnects at random moments (HTTP, SSE, socket)."""
    leavers, chance = size(200, 24), random.Random(1)
    with httpx.Client(base_url=server.url, timeout=120) as client:
        body = one_trace(seed=1, temperature=1)
        right = client.post("/v1/traces", json=body).json()
        steps = right["steps"]
        a_step = (steps[-1]["elapsed_ms"] - steps[0]["elapsed_ms"]) / (len(steps) - 1)
        before = counters(server)
        for number in range(leavers):
            (leave_http, leave_stream, leave_socket)[number % 3](server, chance)
        freed = []
        for _ in range(size(20, 3)):
            with socket.create_connection(server.address) as connection:
                connection.sendall(request_bytes(one_trace()))
                while in_flight(server) == (0, 0):
                    pass
            freed.append(1000 * wait_until_idle(server))
        wait_until_idle(server)
        after = counters(server)
        again = client.post("/v1/traces", json=body).json()
    row.holds("the next trace is right", "identical", without_times(again) == without_times(right))
    slowest = max(freed)
    row.measures(
        "model free within one step + 100 ms",
        f"{slowest:.0f} ms (a step: {a_step:.0f} ms)",
        slowest <= a_step + 100,
    )
    begun, ended = in_flight(server), after
    outcomes = {
        key[1]: int(ended[key] - before.get(key, 0)) for key in ended if "generations" in key[0]
    }
    row.holds(
        "counters add up",
        f"{sum(outcomes.values())} left the model: {outcomes}",
        begun == (0, 0)
        and outcomes.get("failed", 0) == 0
        and 0 < outcomes["cancelled"] <= sum(outcomes.values()) <= leavers + len(freed),
    )
