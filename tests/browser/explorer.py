"""What a visitor does on the live page, and what they see, by the names that the page says."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.held import STEPS_BEFORE_GATE

SOCKET = "**/ws/traces"
# A busy machine takes a second a token.
PATIENCE_MS = 60_000


LABELS = {
    "max_new_tokens": "Tokens to draw",
    "top_k": "Alternatives shown",
    "temperature": "Temperature",
    "top_p": "Top-p",
    "seed": "Seed",
}


def open_page(page: Page, server: str) -> None:
    page.goto(server)
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()


def fill(page: Page, prompt: str, **settings: str) -> None:
    page.get_by_role("textbox", name="Prompt", exact=True).fill(prompt)
    if settings:
        page.locator("details:has(.settings)").evaluate("settings => { settings.open = true }")
    for name, value in settings.items():
        page.get_by_role("textbox", name=LABELS[name], exact=True).fill(value)


def run(page: Page, server: str, prompt: str = "The moon is", **settings: str) -> None:
    """Open the page and run a prompt to its end; four tokens if nothing else is said."""
    open_page(page, server)
    fill(page, prompt, **{"max_new_tokens": "4", **settings})
    page.get_by_role("button", name="Run", exact=True).click()
    await_end(page)


def run_to_the_gate(page: Page, server: str) -> None:
    """A run of 32 tokens, which waits at the gate of `held_server` after a few."""
    open_page(page, server)
    fill(page, "I like tea. I like tea. I", max_new_tokens="32")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(strip(page).get_by_role("button")).to_have_count(STEPS_BEFORE_GATE, timeout=PATIENCE_MS)


def await_end(page: Page) -> None:
    expect(page.get_by_role("heading", name="The run in numbers")).to_be_visible(
        timeout=PATIENCE_MS
    )


def strip(page: Page) -> Locator:
    """The text, token by token."""
    return page.get_by_role("group", name="The text, token by token")


def drawn(page: Page) -> list[str]:
    """The tokens that were drawn, as shown."""
    return strip(page).get_by_role("button").all_inner_texts()


def unfold(page: Page) -> None:
    """Open everything that is folded away."""
    page.locator("details").evaluate_all("all => all.forEach(each => { each.open = true })")


def pane(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name)


def ranked(page: Page) -> Locator:
    return pane(page, "What could have come")


def violations(page: Page) -> list[Any]:
    """What axe finds, as rule and places."""
    page.wait_for_load_state()
    found = Axe().run(page).response["violations"]
    return [(each["id"], [node["target"] for node in each["nodes"]]) for each in found]


class Wire:
    """The sockets of a page, all leading to the real server, that a test may cut."""

    def __init__(self, page: Page) -> None:
        self.sockets: list[WebSocketRoute] = []
        self.is_cut = False
        page.route_web_socket(SOCKET, self._connect)

    def cut(self) -> None:
        """Close what is open, and let nothing new through."""
        self.is_cut = True
        for socket in self.sockets:
            socket.close(code=1012)
        self.sockets.clear()

    def mend(self) -> None:
        self.is_cut = False

    def _connect(self, socket: WebSocketRoute) -> None:
        if self.is_cut:
            socket.close(code=1012)
            return
        socket.connect_to_server()
        self.sockets.append(socket)
