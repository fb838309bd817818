"""Whether the booth's page grows over a day of visitors: `make bench-page` runs it.

Each replay is a visitor's whole turn: a prompt, a live run of the real model that plays to its
end, and Reset. Every tenth visitor meets no server and gets a prepared trace.
"""

from __future__ import annotations

import os

import pytest

from tests.browser.booth import (
    Line,
    Memory,
    await_model,
    live_replay,
    open_booth,
    prepared_replay,
)

pytestmark = [pytest.mark.browser, pytest.mark.timeout(3600)]

REPLAYS = int(os.environ.get("REPLAYS", "500"))
KB = 1024


def replays(page, line, number):
    for done in range(number):
        if done % 10 == 9:
            line.cut()
            prepared_replay(page, "1, 2, 3")
            line.mend()
        else:
            live_replay(page, "1, 2, 3")


def test_the_page_does_not_grow_over_500_replays(page, server):
    line = Line(page)
    open_booth(page, server)
    await_model(page)
    replays(page, line, 20)  # what is compiled and cached once is there now
    memory = Memory(page)
    before = memory.now()
    replays(page, line, REPLAYS)
    after = memory.now()
    for name in before:
        print(f"{name}: {before[name]:,} before, {after[name]:,} after {REPLAYS} replays")
    assert after["nodes"] <= before["nodes"]
    assert after["listeners"] <= before["listeners"]
    assert after["heap"] - before["heap"] < 512 * KB  # a page that kept one run of each is over it
