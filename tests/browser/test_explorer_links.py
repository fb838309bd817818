"""Links that carry everything: what they bring back, and what they may not do."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import LABELS, await_end, drawn, fill, open_page, strip, violations

pytestmark = pytest.mark.browser

HOSTILE = "=1+1 </script>\"'`\u202eevil\u2066 \U0001f600\U0001f469\u200d\U0001f467 \0 नि\nend"
SETTINGS = {
    "max_new_tokens": "3",
    "top_k": "2",
    "temperature": "0.7",
    "top_p": "0.9",
    "seed": "9223372036854775807",
}


def prompt(page):
    return page.get_by_role("textbox", name="Prompt", exact=True)


def link_of(page):
    """The link that the dialogue makes."""
    page.get_by_role("button", name="Copy link").click()
    link = page.get_by_role("textbox", name="Link", exact=True).input_value()
    page.keyboard.press("Escape")
    return link


def test_a_link_brings_back_the_prompt_and_every_setting_and_no_server_sees_it(
    page, context, server
):
    asked = []
    context.on("request", lambda request: asked.append(request.url))
    open_page(page, server)
    fill(page, HOSTILE, **SETTINGS)
    page.get_by_role("checkbox", name="Measure the prompt too").check()
    page.get_by_role("button", name="Run", exact=True).click()
    await_end(page)
    first = drawn(page)
    assert page.url == f"{server}/"

    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("For a class").click()
    page.get_by_role("checkbox", name="Run as soon as it is open").check()
    page.get_by_role("button", name="Copy Link", exact=True).click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    page.keyboard.press("Escape")
    assert page.url == f"{server}/"

    other = context.new_page()
    other.goto(link)
    await_end(other)
    assert prompt(other).input_value() == HOSTILE
    for name, value in SETTINGS.items():
        assert other.get_by_role("textbox", name=LABELS[name], exact=True).input_value() == value
    assert drawn(other) == first  # by the same seed, to its last digit
    assert strip(other).locator(".given.level-1, .given.level-5").count() > 0  # measured
    expect(other.get_by_text("Not all of the link could be used.")).to_be_hidden()
    assert link_of(other).split("#")[1] == link.split("#")[1]
    assert not any("evil" in url or "?" in url for url in asked)


def test_a_wrong_link_falls_back_to_defaults_and_says_so(page, server):
    said = []
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("pageerror", lambda error: said.append(str(error)))
    wrong = {
        "prompt": "The moon is",
        "temperature": "9",
        "seed": "1e9",
        "theme": "pink",
        "hide": "everything,lab",
        "<img src=x onerror=alert(1)>": "\u202egnp.exe",
        "__proto__": "1",
    }
    page.goto(f"{server}/#{urlencode(wrong)}&top_p=%ff")
    note = page.get_by_role("status").filter(has_text="Not all of the link")
    expect(note.get_by_role("listitem")).to_have_count(6)
    expect(note).to_contain_text("Temperature must be a number from 0 to 2; this is “9”.")
    expect(note).to_contain_text("“<img src=x onerror=alert(1)>” is no option of a link.")
    expect(note).to_contain_text("And 2 more.")
    expect(page.get_by_role("textbox", name="Temperature", exact=True)).to_have_value("0")
    expect(prompt(page)).to_have_value("The moon is")
    assert violations(page) == []

    # A page that is open follows its address; a place on it is no link.
    page.evaluate("location.hash = 'main'")
    expect(prompt(page)).to_have_value("The moon is")
    page.evaluate("location.hash = 'prompt=' + 'a'.repeat(1001)")
    expect(note).to_contain_text("this is 1001 characters long")
    expect(prompt(page)).to_have_value("")
    page.evaluate("location.hash = 'x=' + 'a'.repeat(100000)")
    expect(note).to_contain_text("nothing was taken from it")
    assert said == []


def test_a_link_for_a_class_locks_hides_and_colours(page, server):
    page.emulate_media(color_scheme="light")
    hidden = "examples,lab,branches,numbers,tables,share,reading"
    page.goto(
        f"{server}/#prompt=The+moon+is&max_new_tokens=3&temperature=0.5&seed=1&run=1&colour=rank"
        f"&lock=1&theme=dark&hide={hidden}"
    )
    expect(page.get_by_text("Step 3 of 3")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("The link fixes the prompt and the settings.")).to_be_visible()
    expect(prompt(page)).not_to_be_editable()
    for label in LABELS.values():
        expect(page.get_by_role("textbox", name=label, exact=True)).not_to_be_editable()
    expect(page.get_by_role("checkbox", name="Measure the prompt too")).to_be_disabled()
    expect(page.get_by_role("slider")).to_have_count(0)
    expect(page.get_by_role("radio", name="Rank")).to_be_checked()
    for name in ["Copy link", "Save or cite", "Share this trace", "New seed"]:
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    for words in [
        "Or try one of these",
        "Sampling lab",
        "Follow",
        "What if step",
        "The run in numbers",
        "All steps as a table",
    ]:
        expect(page.get_by_text(words)).to_have_count(0)
    expect(page.get_by_role("heading", name="What the numbers mean")).to_be_hidden()
    ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert ground == "rgb(21, 23, 27)"
    assert violations(page) == []
    page.evaluate("location.hash = 'prompt=Once&hide=settings&theme=light'")
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()
    expect(page.locator(".settings")).to_have_count(0)
    expect(prompt(page)).to_be_editable()
