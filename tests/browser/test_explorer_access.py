"""The live page for everyone: keyboard, axe in every state, small and large, no foreign host."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import (
    PATIENCE_MS,
    Wire,
    await_end,
    drawn,
    fill,
    open_page,
    pane,
    ranked,
    run,
    strip,
    unfold,
    violations,
)

pytestmark = pytest.mark.browser

NARROW = {"width": 320, "height": 640}
ZOOMED = {"width": 320, "height": 256}  # what a screen of 1280 by 1024 shows at 400%


def tab_to(page, locator, most=80):
    """Press Tab until an element has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if locator.evaluate("e => e === document.activeElement"):
            return
    pytest.fail(f"{locator} is not reached by Tab")


def test_the_keyboard_alone_runs_reads_and_branches(page, server):
    open_page(page, server)
    tab_to(page, page.get_by_role("textbox", name="Prompt", exact=True))
    page.keyboard.type("The moon is")
    tab_to(page, page.get_by_role("button", name="Run", exact=True))
    page.keyboard.press("Enter")
    await_end(page)
    first = drawn(page)
    tab_to(page, strip(page).locator("[aria-current]"))
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("heading", name=re.compile("^Step 2:"))).to_be_visible()
    tab_to(page, ranked(page).get_by_role("button", name=re.compile("^Follow ")).first)
    page.keyboard.press("Enter")
    expect(pane(page, "Paths from this prompt")).to_be_visible(timeout=PATIENCE_MS)
    await_end(page)
    assert drawn(page)[0] == first[0]
    assert drawn(page)[1] != first[1]
    assert page.evaluate("document.activeElement !== document.body")


def test_a_run_is_announced_once_at_its_start_and_once_at_its_end(page, server):
    page.add_init_script(
        """window.said = [];
        new MutationObserver((changes) => {
          for (const {target} of changes) {
            const element = target.closest ? target : target.parentElement;
            const text = element?.closest('p[role=status]')?.textContent;
            if (text && window.said.at(-1) !== text) window.said.push(text);
          }
        }).observe(document, {subtree: true, childList: true, characterData: true});"""
    )
    run(page, server)
    said = page.evaluate("window.said")
    assert len(said) == 2
    assert said[0] == "Tracing."
    assert said[1].startswith("Trace finished: 4 tokens")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_axe_finds_nothing_in_any_state(page, server, scheme, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    wire = Wire(page)
    open_page(page, server)
    assert violations(page) == []

    fill(page, "")
    page.get_by_role("button", name="Run", exact=True).click()
    assert violations(page) == []

    settings = {"max_new_tokens": "4", "temperature": "1", "top_p": "0.9", "seed": "1"}
    fill(page, "नमस्ते 👩 The moon is", **settings)
    page.get_by_role("checkbox", name="Measure the prompt too").check()
    page.get_by_role("button", name="Run", exact=True).click()
    await_end(page)
    unfold(page)
    for measure in ["Probability", "Rank", "Surprisal", "Entropy"]:
        page.get_by_role("radio", name=measure).check()
        assert violations(page) == []

    page.get_by_role("button", name="100 times", exact=True).click()
    ranked(page).get_by_role("radio", name="Logarithmic").check()
    ranked(page).get_by_role("button", name=re.compile("^Follow ")).first.click()
    page.get_by_role("button", name="Compare").first.click(timeout=PATIENCE_MS)
    await_end(page)
    page.get_by_label(re.compile("What if step")).fill(" ca")
    expect(page.get_by_role("list", name="Tokens that begin so")).to_be_visible()
    assert violations(page) == []

    page.get_by_role("button", name="Keys").click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    wire.cut()
    expect(page.get_by_text("The connection to the server was lost.")).to_be_visible()
    assert violations(page) == []


# Where one text or name follows another in the page: the word before, and the word after.
MEETINGS = """
() => {
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data ? [node.data] : [];
    if (node.nodeType !== Node.ELEMENT_NODE || node.ariaHidden === "true") return [];
    return node.ariaLabel ? [node.ariaLabel] : [...node.childNodes].flatMap(walk);
  };
  const texts = walk(document.querySelector("main"));
  return texts.slice(1).map((text, i) => [
    texts[i].match(/[\\p{L}\\p{N}]+$/u)?.[0] ?? "", text.match(/^[\\p{L}\\p{N}]+/u)?.[0] ?? "",
  ]).filter(([left, right]) => left && right && /\\p{L}/u.test(left + right));
}
"""


def words_that_run_together(page):
    """Of two texts beside each other, those that a name in the accessibility tree has as one."""
    tree = page.locator("main").aria_snapshot()
    meeting = {left + right for left, right in page.evaluate(MEETINGS)}
    return sorted(word for word in meeting if re.search(rf"\b{re.escape(word)}\b", tree))


def test_the_names_of_tables_headings_and_buttons_read_as_words(page, server):
    open_page(page, server)
    fill(page, "The moon is", max_new_tokens="3", temperature="1", top_p="0.5", seed="1")
    page.get_by_role("checkbox", name="Measure the prompt too").check()
    page.get_by_role("button", name="Run", exact=True).click()
    await_end(page)
    ranked(page).get_by_role("button", name=re.compile("^Follow ")).first.click()
    page.get_by_role("button", name="Compare").first.click(timeout=PATIENCE_MS)
    await_end(page)
    unfold(page)
    page.get_by_role("slider", name="Top-k").fill("2")
    page.get_by_role("button", name="100 times", exact=True).click()
    assert words_that_run_together(page) == []
    page.evaluate("document.querySelector('h2').innerHTML = '<b>one</b><i>two</i>'")
    assert words_that_run_together(page) == ["onetwo"]  # it would be found


def show_everything(page):
    """All that the page can show of two paths, opened."""
    fill(page, "The moon is " + "m" * 120, max_new_tokens="3", temperature="1", seed="1")
    page.get_by_role("button", name="Run", exact=True).click()
    await_end(page)
    ranked(page).get_by_role("button", name=re.compile("^Follow ")).first.click()
    page.get_by_role("button", name="Compare").first.click(timeout=PATIENCE_MS)
    await_end(page)
    unfold(page)
    page.get_by_label(re.compile("What if step")).fill(" ca")
    expect(page.get_by_role("list", name="Tokens that begin so")).to_be_visible()


def test_the_narrowest_window_never_scrolls_sideways(page, server):
    page.set_viewport_size(NARROW)
    open_page(page, server)
    show_everything(page)
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    outside = page.locator("main *:not(.unseen, .unseen *, svg *)").evaluate_all(
        f"all => all.filter(e => e.getBoundingClientRect().right > {NARROW['width']})"
        ".map(e => e.outerHTML.slice(0, 80))"
    )
    assert outside == []


def sideways(page):
    return page.evaluate("document.documentElement.scrollWidth") - ZOOMED["width"]


def test_at_400_percent_a_visitor_runs_reads_and_branches_without_scrolling_sideways(page, server):
    page.set_viewport_size(ZOOMED)
    run(page, server)
    assert sideways(page) == 0
    strip(page).get_by_role("button").nth(1).click()
    expect(page.get_by_role("heading", name=re.compile("^Step 2:"))).to_be_visible()
    ranked(page).get_by_role("button", name=re.compile("^Follow ")).first.click()
    expect(pane(page, "Paths from this prompt")).to_be_visible(timeout=PATIENCE_MS)
    await_end(page)
    assert sideways(page) == 0
    page.get_by_role("button", name="Keys").click()
    sheet = page.get_by_role("dialog", name="Keys")
    sheet.locator("dl > div").last.scroll_into_view_if_needed()
    expect(sheet.locator("dl > div").last).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")


def test_at_400_percent_nothing_covers_what_can_be_pressed(page, server):
    page.set_viewport_size(ZOOMED)
    open_page(page, server)
    show_everything(page)
    assert sideways(page) == 0
    controls = page.locator("main").locator("button, summary, textarea, input")
    covered = controls.evaluate_all(
        """all => all.filter(e => e.checkVisibility()).filter(e => {
            e.scrollIntoView({block: "center"});
            const box = e.getBoundingClientRect();
            const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
            return !e.contains(document.elementFromPoint(x, y));
        }).map(e => e.outerHTML.slice(0, 80))"""
    )
    assert controls.count() > 40
    assert covered == []


# The longest that anything which the styles set in motion goes on, in seconds.
LONGEST_MOTION = """
() => Math.max(...[...document.querySelectorAll("*")].flatMap((e) =>
  ["", "::before", "::after"].flatMap((part) => {
    const style = getComputedStyle(e, part);
    return `${style.transitionDuration}, ${style.animationDuration}`.split(", ").map(parseFloat);
  })))
"""


def test_with_reduced_motion_the_replay_works_and_nothing_moves_by_itself(page, server):
    page.emulate_media(reduced_motion="reduce")
    open_page(page, server)
    page.evaluate(
        """window.places = new Set();
        addEventListener("scroll", () => window.places.add(scrollY));"""
    )
    fill(page, "The moon is", max_new_tokens="4")
    page.get_by_role("button", name="Run", exact=True).scroll_into_view_if_needed()
    page.evaluate("window.places.clear()")
    page.get_by_role("button", name="Run", exact=True).click()
    await_end(page)
    assert page.evaluate("window.places.size") == 1  # to the trace, at one go
    page.get_by_role("radio", name="Fast").check()
    page.get_by_role("button", name="First step").click()
    page.get_by_role("button", name="Play", exact=True).click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    assert page.evaluate(LONGEST_MOTION) <= 0.01
    assert page.evaluate("document.getAnimations().length") == 0
    expect(page.get_by_text("Step 4 of 4")).to_be_visible()


def test_with_reduced_motion_the_bar_of_a_run_that_waits_stands_still(page, server):
    page.emulate_media(reduced_motion="reduce")
    Wire(page).cut()
    open_page(page, server)
    fill(page, "The moon is")
    page.get_by_role("button", name="Run", exact=True).click()
    bar = page.get_by_role("progressbar")
    expect(bar).to_be_visible()
    assert len({bar.screenshot(animations="allow") for _ in range(5)}) == 1


def test_what_can_be_pressed_is_large_enough(page, server):
    page.set_viewport_size(NARROW)
    open_page(page, server)
    show_everything(page)
    small = page.locator(
        "button, summary, textarea, input:not([type=radio]), .choices label"
    ).evaluate_all(
        """all => all.filter(e => e.checkVisibility())
            .map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])
            .filter(([, box]) => box.width < 24 || box.height < 24).map(([html]) => html)"""
    )
    assert small == []


def test_the_page_asks_its_own_server_alone_and_stores_nothing(page, server):
    hosts = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    page.on("websocket", lambda socket: hosts.add(urlsplit(socket.url).netloc))
    run(page, server)
    assert hosts == {urlsplit(server).netloc}
    assert page.context.cookies() == []
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0


STRICT_POLICY = """
new MutationObserver((_, observer) => {
  if (!document.head) return;
  observer.disconnect();
  const policy = document.createElement("meta");
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
    "connect-src 'self'";
  document.head.prepend(policy);
}).observe(document, {childList: true, subtree: true});
"""


def test_the_page_runs_under_a_strict_content_security_policy(page, server):
    errors = []
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.add_init_script(STRICT_POLICY)
    run(page, server, temperature="1", seed="1")
    unfold(page)
    assert errors == []
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    assert "Content Security Policy" in errors[0]  # it was in force


def test_paper_has_the_trace_and_no_controls(page, server):
    run(page, server)
    page.emulate_media(media="print")
    expect(strip(page)).to_be_visible()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_hidden()
    expect(page.get_by_role("group", name="Replay")).to_be_hidden()


def test_forced_colours_keep_the_ticks_and_the_marks(page, server):
    page.emulate_media(forced_colors="active")
    run(page, server, temperature="1", seed="1")
    token = strip(page).get_by_role("button").first
    ticks = token.evaluate("e => getComputedStyle(e, '::after').backgroundImage")
    assert ticks.startswith("repeating-linear-gradient")
    assert violations(page) == []
