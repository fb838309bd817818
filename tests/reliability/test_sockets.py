"""Many sockets, and what should not be sent over them."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.reliability.figures import size

pytestmark = pytest.mark.timeout(600)

MEGABYTE = 1_000_000
COUNT = json.dumps({"type": "count", "id": "c", "prompt": "x"})


def opened(server):
    host, port = server.address
    return connect(f"ws://{host}:{port}/ws/traces", open_timeout=60, max_size=None)


def code_of_close(wire):
    try:
        while True:
            wire.recv(timeout=60)
    except ConnectionClosed as closing:
        return closing.rcvd and closing.rcvd.code


def closed_after(server, frames):
    with opened(server) as wire:
        try:
            for frame in frames:
                wire.send(frame)
        except ConnectionClosed:
            pass  # in the midst of a flood
        return code_of_close(wire)


def test_sockets_in_numbers_and_floods(tiny_server, row):
    """Sockets: 500 open, oversized frames, bad JSON, 10,000 messages a second."""
    server, times = tiny_server, size(20, 2)
    memory = server.memory()
    with ExitStack() as stack:
        wires = [stack.enter_context(opened(server)) for _ in range(size(500, 100))]
        for wire in wires:
            assert json.loads(wire.recv(timeout=60))["type"] == "hello"
        for number, wire in enumerate(wires):
            wire.send(json.dumps({"type": "count", "id": str(number), "prompt": "the 2"}))
        answered = [json.loads(wire.recv(timeout=60))["id"] for wire in wires]
        held = (server.memory() - memory) / MEGABYTE
    row.holds("all are heard", f"{len(answered)}", answered == [str(n) for n in range(len(wires))])
    row.measures("memory under +50 MB", f"{held:+.1f} MB", held < 50)
    for frames, code in (
        (["x" * 1_048_577], 1009),
        (["not JSON"], 1007),
        (["{}"] * 10, 1008),
        ([COUNT] * 10_000, 1008),
        ([b"\x00"], 1003),
    ):
        codes = {closed_after(server, frames) for _ in range(times)}
        sent = f"{len(frames)} of {len(frames[0])} bytes"
        row.holds(f"{sent} close with {code}", f"{sorted(map(str, codes))}", codes == {code})
