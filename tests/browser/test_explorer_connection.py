"""The live page and its connection: lost and back, two tabs, a model that still loads."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import (
    PATIENCE_MS,
    SOCKET,
    Wire,
    await_end,
    drawn,
    fill,
    open_page,
    run,
    run_to_the_gate,
)
from tests.held import STEPS_BEFORE_GATE

pytestmark = pytest.mark.browser

LOST = "The connection to the server was lost."


def test_a_lost_connection_is_said_and_comes_back_by_itself(page, server):
    wire = Wire(page)
    run(page, server)
    before = drawn(page)
    wire.cut()
    expect(page.get_by_text(LOST)).to_be_visible()
    assert drawn(page) == before
    wire.mend()
    expect(page.get_by_text(LOST)).to_have_count(0, timeout=PATIENCE_MS)
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("button", name="Compare")).to_have_count(1, timeout=PATIENCE_MS)


def test_a_run_that_is_cut_short_keeps_its_steps_and_says_so(page, held_server, run_gate):
    wire = Wire(page)
    run_to_the_gate(page, held_server)
    wire.cut()
    expect(page.get_by_text("The connection broke here")).to_be_visible()
    assert len(drawn(page)) == STEPS_BEFORE_GATE
    run_gate.open()


@pytest.mark.parametrize("was_there", [True, False])
def test_what_is_run_without_a_connection_starts_once_it_is_back(page, server, was_there):
    wire = Wire(page)
    if not was_there:
        wire.cut()
    open_page(page, server)
    if was_there:
        # Counted by the server: it was heard. A cut before would be no loss.
        fill(page, "The moon is")
        expect(page.get_by_text("3 tokens of at most")).to_be_visible(timeout=PATIENCE_MS)
        wire.cut()
    expect(page.get_by_text(LOST if was_there else "No connection yet.")).to_be_visible()
    fill(page, "1, 2, 3, 4, 5, 6,", max_new_tokens="2")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("Waiting for the connection…")).to_be_visible()
    wire.mend()
    await_end(page)
    assert drawn(page) == ["␣", "7"]


def test_the_notice_of_a_lost_connection_stands_still_while_sockets_open_and_break(page, server):
    """A page that jumped with each try would move Run away from under a press of it."""
    wire = Wire(page)
    page.add_init_script(
        """window.tries = 0;
        window.WebSocket = class extends WebSocket {
            constructor(...args) {
                super(...args);
                if (++window.tries > 3) document.documentElement.dataset.tried = "often";
            }
        };
        window.changes = 0;
        addEventListener("DOMContentLoaded", () => new MutationObserver((all) => {
            for (const {addedNodes, removedNodes} of all)
                for (const {classList} of [...addedNodes, ...removedNodes])
                    if (classList?.contains("connection")) window.changes += 1;
        }).observe(document.body, {subtree: true, childList: true}));"""
    )
    wire.cut()
    open_page(page, server)
    # Not by wait_for_function, which evaluates text: the page's policy forbids that.
    expect(page.locator("html[data-tried]")).to_be_attached(timeout=PATIENCE_MS)
    expect(page.get_by_text("No connection yet.")).to_be_visible()
    assert page.evaluate("window.changes") == 1


def test_without_sockets_the_server_draws_the_trace(page, server):
    Wire(page).cut()
    open_page(page, server)
    fill(page, "The moon is", max_new_tokens="2")
    page.get_by_role("button", name="Trace without the live connection").click()
    expect(page.get_by_role("heading", name="Step by step")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_role("textbox", name="Prompt", exact=True)).to_have_value("The moon is")


def test_two_tabs_run_at_once_and_each_has_its_own(page, server, context):
    other = context.new_page()
    for tab, prompt in [(page, "1, 2, 3, 4, 5, 6,"), (other, "a, b, c, d,")]:
        open_page(tab, server)
        fill(tab, prompt, max_new_tokens="2")
    page.get_by_role("button", name="Run", exact=True).click()
    other.get_by_role("button", name="Run", exact=True).click()
    await_end(page)
    await_end(other)
    assert drawn(page) == ["␣", "7"]
    assert drawn(other) == ["␣e", ","]


def test_a_run_waits_for_a_model_that_still_loads(page, server):
    held = []

    def still_loading(socket):
        """The real server, whose word that it is ready is held back."""
        real = socket.connect_to_server()

        def answer(text):
            frame = json.loads(text)
            if frame["type"] == "hello" and not held:
                held.append(text)
                frame["ready"] = False
            socket.send(json.dumps(frame))

        real.on_message(answer)
        release.append(lambda: socket.send(held[0]))

    release = []
    page.route_web_socket(SOCKET, still_loading)
    open_page(page, server)
    expect(page.get_by_text("is loading.")).to_be_visible()
    fill(page, "1, 2, 3, 4, 5, 6,", max_new_tokens="2")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("Waiting for the model: it starts by itself…")).to_be_visible()
    release[0]()
    await_end(page)
    assert drawn(page) == ["␣", "7"]
