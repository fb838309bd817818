"""The page without scripts in Chromium, on the real server with the embedded model."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


@pytest.fixture
def browser_context_args(browser_context_args):
    return {**browser_context_args, "java_script_enabled": False}


PHONE = {"width": 320, "height": 640}


def trace(page, server, prompt="The moon is", **settings):
    """Fill in the form and send it."""
    page.goto(server)
    page.get_by_label("Prompt").fill(prompt)
    for label, value in settings.items():
        page.get_by_label(label.replace("_", " "), exact=True).fill(value)
    page.get_by_role("button", name="Trace", exact=True).click()
    expect(page.get_by_role("heading", name="The trace")).to_be_visible()


def violations(page):
    page.wait_for_load_state()  # an element can be seen before its style sheet is there
    found = Axe().run(page).response["violations"]
    return [(each["id"], [node["target"] for node in each["nodes"]]) for each in found]


def test_a_prompt_is_typed_and_traced_with_the_keyboard_alone(page, server):
    page.goto(server)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Prompt")).to_be_focused()
    page.keyboard.type("The moon is")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The trace")).to_be_in_viewport()
    expect(page.get_by_role("region", name="Step 16")).to_have_count(1)
    expect(page.get_by_role("table")).to_have_count(17)
    assert "moon" not in page.url


def test_a_token_leads_to_its_step_and_the_step_lists_what_could_have_come(page, server):
    trace(page, server, Tokens_to_draw="3", Alternatives_shown="4")
    page.get_by_role("list").get_by_role("link").nth(1).click()
    step = page.get_by_role("region", name="Step 2")
    expect(step).to_be_in_viewport()
    rows = step.get_by_role("row")
    # The headings, the drawn token with its four alternatives, and the remainder.
    expect(rows).to_have_count(7)
    expect(rows.nth(1)).to_contain_text("drawn")
    expect(rows.nth(6)).to_contain_text("other")


def test_bars_of_all_steps_share_one_axis(page, server):
    trace(page, server, Tokens_to_draw="2", Temperature="1", Seed="3")
    bars = page.locator(".step svg.bar").evaluate_all(
        """bars => bars.map(bar => [
            bar.getBoundingClientRect().width,
            bar.firstChild.getBoundingClientRect().width,
            parseFloat(bar.previousSibling.textContent) / 100,
        ])"""
    )
    assert len(bars) >= 12
    assert len({round(axis) for axis, _, _ in bars}) == 1
    for axis, length, probability in bars:
        assert length == pytest.approx(axis * probability, abs=0.6)


def test_an_example_is_traced_by_one_click(page, server):
    page.goto(server)
    page.get_by_role("button", name="1, 2, 3, 4, 5, 6,").click()
    expect(page.get_by_role("heading", name="The trace")).to_be_in_viewport()
    expect(page.get_by_label("Prompt")).to_have_value("1, 2, 3, 4, 5, 6,")


def test_newlines_and_spaces_arrive_as_they_were_typed(page, server):
    typed = "\n a\n\nb  "
    trace(page, server, typed, Tokens_to_draw="1")
    expect(page.get_by_label("Prompt")).to_have_value(typed)
    assert page.locator(".text .prompt").evaluate("e => e.textContent") == typed


def test_a_refusal_leads_to_the_field_and_keeps_the_prompt(page, server):
    page.goto(server)
    page.get_by_label("Prompt").fill("x" * 1001)
    page.get_by_role("button", name="Trace", exact=True).click()
    page.get_by_role("alert").get_by_role("link").click()
    expect(page.get_by_label("Prompt")).to_be_focused()
    expect(page.get_by_label("Prompt")).to_have_value("x" * 1001)
    expect(page.get_by_label("Prompt")).to_have_accessible_description(
        "The beginning of a text: the model goes on from its last character. "
        "Prompt must be 1 to 1,000 characters long; this is 1,001 characters long."
    )


def test_a_phone_shows_every_figure_without_scrolling_sideways(page, server):
    page.set_viewport_size(PHONE)
    trace(page, server, "The moon is " + "m" * 200, Tokens_to_draw="3", Temperature="1", Seed="1")
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    outside = page.locator("main *").evaluate_all(
        f"all => all.filter(e => e.getBoundingClientRect().right > {PHONE['width']})"
        ".map(e => e.outerHTML.slice(0, 80))"
    )
    assert outside == []


def test_what_can_be_pressed_is_large_enough(page, server):
    page.set_viewport_size(PHONE)
    trace(page, server, Tokens_to_draw="3")
    small = page.locator("button, input, textarea, .chips a").evaluate_all(
        """all => all.map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
            .filter(([_, box]) => box.width < 24 || box.height < 24).map(([html, _]) => html)"""
    )
    assert small == []


def test_the_page_asks_its_own_server_alone_and_stores_nothing(page, server):
    hosts = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    trace(page, server, Tokens_to_draw="1")
    assert hosts == {urlsplit(server).netloc}
    assert page.context.cookies() == []


@pytest.fixture
def page_without_our_script(browser):
    """A page whose script never comes; axe is one itself, and runs."""
    page = browser.new_page()
    page.route("**/build/explorer*", lambda route: route.abort())
    yield page
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, 320])
def test_axe_finds_nothing_to_mend(page_without_our_script, server, scheme, width):
    page = page_without_our_script
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    page.goto(server)
    assert violations(page) == []
    page.get_by_label("Prompt").fill("x" * 1001)
    page.get_by_role("button", name="Trace", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert violations(page) == []
    trace(page, server, "नमस्ते 👩", Tokens_to_draw="3", Temperature="1", Seed="1")
    assert violations(page) == []
