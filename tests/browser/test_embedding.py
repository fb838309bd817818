"""Shared traces in somebody else's page and without a script, and what the browser is told."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.explorer import PATIENCE_MS, violations

pytestmark = pytest.mark.browser

PROMPT = "</script><b>'\"\u202e🦊 \0 The moon is"
# Kept where the page's own script cannot clear it.
WATCH = """
  window.broken = [];
  addEventListener("securitypolicyviolation", e => broken.push(e.violatedDirective));
"""


@pytest.fixture
def shared(server):
    """The links of a trace that was just shared."""
    body = {"prompt": PROMPT, "max_new_tokens": 3, "temperature": 1, "seed": 2**63 - 1}
    traced = httpx.post(f"{server}/v1/traces?include=analysis", json=body, timeout=100)
    sent = {"trace": traced.json(), "receipt": traced.headers["X-Trace-Receipt"]}
    answer = httpx.post(f"{server}/v1/shared-traces", json=sent, timeout=100)
    assert answer.status_code == 201, answer.text
    return answer.json()


@pytest.fixture
def strict_page(browser_type, browser_type_launch_args, tmp_path):
    """A page of a browser that blocks third-party cookies."""
    profile = tmp_path / "Default"
    profile.mkdir()
    blocked = {"profile": {"cookie_controls_mode": 1, "block_third_party_cookies": True}}
    (profile / "Preferences").write_text(json.dumps(blocked))
    context = browser_type.launch_persistent_context(str(tmp_path), **browser_type_launch_args)
    yield context.new_page()
    context.close()


@contextmanager
def no_refusals(page):
    """Fails where the browser refused something that a page wanted to load or run."""
    said = []
    page.on("console", lambda message: said.append(message.text))
    yield
    refusals = [text for text in said if re.search("Content.Security.Policy|Permissions", text)]
    assert refusals == []
    assert page.evaluate("window.broken ?? []") == []


def test_a_listed_site_shows_both_frames_though_third_party_cookies_are_blocked(
    strict_page, course, server, shared
):
    embedded = shared["url"].replace("/t/", "/embed/t/")
    course.pages["/course"] = (
        "<!doctype html><title>Course</title>"
        f'<iframe id="stored" src="{embedded}?theme=dark" title="A trace" height="400"></iframe>'
        f'<iframe id="live" src="{server}/embed#prompt=The+moon+is&max_new_tokens=2&run=1"'
        ' title="Live" height="400"></iframe>'
    )
    strict_page.goto(f"{course.listed}/course")
    stored, live = strict_page.frame_locator("#stored"), strict_page.frame_locator("#live")
    expect(stored.get_by_role("heading", name="The trace", exact=True)).to_be_visible()
    expect(stored.locator("html")).to_have_attribute("data-theme", "dark")
    expect(live.get_by_role("heading", name="The run in numbers")).to_be_visible(
        timeout=PATIENCE_MS
    )
    # The browser really does keep this frame from storing.
    kept = "() => { try { localStorage.length; return 'open'; } catch (e) { return e.name; } }"
    assert live.locator("html").evaluate(kept) == "SecurityError"
    assert strict_page.context.cookies() == []


def test_a_site_that_is_not_listed_shows_nothing_and_no_other_page_can_be_framed(
    page, course, server, shared
):
    embedded = shared["url"].replace("/t/", "/embed/t/")
    for origin, address, is_shown in (
        (course.foreign, embedded, False),
        (course.foreign, f"{server}/embed", False),
        (course.listed, shared["url"], False),
        (course.listed, f"{server}/", False),
        (course.listed, embedded, True),
    ):
        said = []
        page.on("console", lambda message, said=said: said.append(message.text))
        course.pages["/framing"] = f'<iframe src="{address}" title="x"></iframe>'
        page.goto(f"{origin}/framing")
        page.wait_for_load_state("networkidle")
        refused = [text for text in said if "frame-ancestors" in text or "X-Frame" in text]
        assert bool(refused) is not is_shown, (origin, address, said)
        frame = page.frames[1]
        assert frame.url.startswith(server if is_shown else "chrome-error:")


def test_the_snippet_of_oembed_works_as_it_comes(page, course, server, shared):
    answer = httpx.get(f"{server}/oembed", params={"url": shared["url"], "maxwidth": 500})
    course.pages["/snippet"] = f"<!doctype html><title>Course</title>{answer.json()['html']}"
    page.goto(f"{course.listed}/snippet")
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("heading", name="The trace", exact=True)).to_be_visible()
    assert page.locator("iframe").get_attribute("title") == answer.json()["title"]
    assert page.locator("iframe").bounding_box()["width"] >= 500


def test_no_page_asks_for_what_the_policy_refuses(page, server, shared):
    page.add_init_script(WATCH)
    embedded = shared["url"].replace("/t/", "/embed/t/")
    for address in (
        *(shared["url"], embedded, f"{server}/embed", f"{server}/t/{shared['id']}/delete"),
        *(f"{server}/t/{'A' * 22}", f"{server}/admin/login/"),
    ):
        with no_refusals(page):
            page.goto(address)
            page.wait_for_load_state("networkidle")
    with no_refusals(page):  # a whole run, live
        page.goto(f"{server}/#prompt=The+moon+is&max_new_tokens=2&run=1")
        expect(page.get_by_role("heading", name="The run in numbers")).to_be_visible(
            timeout=PATIENCE_MS
        )
    with no_refusals(page):  # and the API's own page
        page.goto(f"{server}/v1/docs")
        expect(page.get_by_role("heading", name="Token Trace")).to_be_visible()
        page.locator("#operations-model-traceapp_api_models_health").click()
        expect(page.get_by_role("button", name="Try it out")).to_be_visible()


def test_without_a_script_a_trace_is_read_replayed_and_removed(
    browser, browser_context_args, server, shared
):
    context = browser.new_context(**browser_context_args | {"java_script_enabled": False})
    page = context.new_page()
    page.goto(shared["url"])
    step = page.get_by_role("region", name=re.compile("^Step 2:"))
    page.locator("#step-1").get_by_role("link", name="Step 2 →").click()
    assert page.url.endswith("#step-2")
    expect(step.get_by_role("table")).to_be_visible()
    page.get_by_role("link", name="Play them one by one").click()
    last = page.locator(".reel li").last
    assert last.evaluate("e => getComputedStyle(e).animationName") == "appear"
    expect(last).to_have_css("opacity", "1")  # once its turn has come
    page.get_by_role("link", name="Show all at once").click()
    assert last.evaluate("e => getComputedStyle(e).animationName") == "none"

    page.get_by_role("link", name="Remove it").click()
    page.get_by_role("textbox", name="Token").fill("not the token")
    page.get_by_role("button", name="Remove this trace").click()
    expect(page.get_by_role("alert")).to_contain_text("does not remove this trace")
    page.get_by_role("textbox", name="Token").fill(shared["delete_token"])
    page.get_by_role("button", name="Remove this trace").click()
    expect(page.get_by_role("heading", name="The trace is removed")).to_be_visible()
    assert page.goto(shared["url"]).status == 404
    context.close()


def test_axe_finds_nothing_and_the_token_leaves_the_address(page, server, shared):
    embedded = shared["url"].replace("/t/", "/embed/t/")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for address in (shared["url"], embedded, f"{server}/embed", f"{server}/t/{'A' * 22}"):
            page.goto(address)
            assert violations(page) == [], (scheme, address)
    page.goto(shared["delete_url"])
    field = page.get_by_role("textbox", name="Token")
    expect(field).to_have_value(shared["delete_token"])
    assert page.url == shared["delete_url"].partition("#")[0]
    assert violations(page) == []
    page.get_by_role("button", name="Remove this trace").click()
    expect(page.get_by_role("heading", name="The trace is removed")).to_be_visible()
    assert violations(page) == []


def test_paper_has_the_drawn_trace_and_no_controls(page, shared):
    page.goto(shared["url"])
    expect(page.get_by_role("heading", name="The run in numbers")).to_be_visible()
    expect(page.locator(".paper")).to_be_hidden()
    page.emulate_media(media="print")
    expect(page.locator("#explorer")).to_be_hidden()
    expect(page.locator("#step-3").get_by_role("table")).to_be_visible()
    expect(page.locator(".citation .line")).to_contain_text(shared["url"])
    for name in ("Play them one by one", "Remove it", "Step 2 →"):
        expect(page.get_by_role("link", name=name)).to_have_count(0)
    expect(page.get_by_role("button")).to_have_count(0)
