"""What happens at a booth, by the names that its page says."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import CDPSession, Locator, Page, expect

from tests.browser.explorer import PATIENCE_MS

READY = "The model is ready"
PREPARED = "Prepared earlier on this model — not live"
LIVE = "Live from the model"
IDLE_MS = 60_000
# More than the longest trace takes to play, at two seconds a token, and less than makes it idle.
WHOLE_MS = 55_000


def open_booth(page: Page, server: str) -> None:
    """Open the booth with its time in our hands: it goes on by itself, and may be sped up."""
    page.clock.install()
    page.goto(f"{server}/booth")
    expect(page.get_by_role("heading", name=re.compile("^Watch a language model"))).to_be_visible()


def await_model(page: Page) -> None:
    expect(page.get_by_text(READY, exact=True)).to_be_visible(timeout=PATIENCE_MS)


def prompt(page: Page, text: str) -> Locator:
    return page.get_by_role("button", name=re.compile(f"^{re.escape(text)}"))


def reset(page: Page) -> None:
    page.get_by_role("button", name="Reset", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("^Watch a language model"))).to_be_visible()


def await_whole(page: Page) -> None:
    """Until the server has said all of a live run, which the page still plays."""
    expect(page.get_by_role("status")).to_have_text(
        "The model has written all of it.", timeout=PATIENCE_MS
    )


def play_to_the_end(page: Page) -> None:
    page.clock.run_for(WHOLE_MS)
    expect(page.get_by_role("button", name="Play again", exact=True)).to_be_visible()


def live_replay(page: Page, text: str) -> None:
    """A visitor's whole turn with the model."""
    prompt(page, text).click()
    await_whole(page)
    play_to_the_end(page)
    expect(page.get_by_text(LIVE, exact=True)).to_be_visible()
    reset(page)


def prepared_replay(page: Page, text: str) -> None:
    """A visitor's whole turn without it."""
    prompt(page, text).click()
    expect(page.get_by_text(PREPARED, exact=True)).to_be_visible()
    play_to_the_end(page)
    reset(page)


# As a browser has it, without a test between: that would hold on to each socket that there was.
LINE = """
  window.isCut = false;
  window.WebSocket = class extends WebSocket {
    constructor(address) {
      super(window.isCut ? address.origin + "/nothing" : address);
      window.socket = this;
    }
  };
"""


class Line:
    """The page's own line to the server, which a test may cut."""

    def __init__(self, page: Page) -> None:
        self._page = page
        page.add_init_script(LINE)

    def cut(self) -> None:
        self._page.evaluate("window.isCut = true; window.socket.close()")
        expect(self._page.get_by_text("No connection to the model; trying again")).to_be_visible()

    def mend(self) -> None:
        self._page.evaluate("window.isCut = false")
        self._page.clock.run_for(20_000)  # the longest wait between two tries
        await_model(self._page)


class Memory:
    """What a page holds, once all that nobody needs is thrown away."""

    def __init__(self, page: Page) -> None:
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._session.send("Performance.enable")

    def now(self) -> dict[str, Any]:
        """Bytes of the heap, and how many nodes and listeners there are."""
        for _ in range(2):  # what the first finds to be unreachable, the second frees
            self._session.send("HeapProfiler.collectGarbage")
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        found = {each["name"]: each["value"] for each in metrics}
        return {
            "heap": int(found["JSHeapUsedSize"]),
            "nodes": int(found["Nodes"]),
            "listeners": int(found["JSEventListeners"]),
        }
