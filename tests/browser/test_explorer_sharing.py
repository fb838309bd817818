"""Shared traces and frames: stored on request, read without the model, shown in other pages."""

from __future__ import annotations

import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from tests.browser.explorer import (
    PATIENCE_MS,
    Wire,
    await_end,
    drawn,
    ranked,
    run,
    strip,
    violations,
)
from tests.browser.test_explorer_access import ZOOMED, sideways
from tests.serving import serving

pytestmark = pytest.mark.browser

PROMPT = "</script>\"'\u202eevil\u2066 \U0001f600\U0001f469\u200d\U0001f467 \0 नि\nThe moon is"
LISTENER = """
<script>
  window.heard = [];
  addEventListener("message", ({data, source, origin}) => {
    heard.push([origin, data]);
    if (data?.type !== "token-trace:height") return;
    for (const frame of document.querySelectorAll("iframe")) {
      if (frame.contentWindow === source) frame.style.height = `${data.height}px`;
    }
  });
</script>
"""


class Teacher:
    """Another site, whose one page a test writes."""

    def __init__(self):
        self.html = ""
        teacher = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                body = f"<!doctype html><title>Class</title>{LISTENER}{teacher.html}".encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *said):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        # By its name, so that it is another site than the product's 127.0.0.1.
        self.url = f"http://localhost:{self.server.server_port}"


@pytest.fixture(scope="module")
def teacher():
    site = Teacher()
    thread = threading.Thread(target=site.server.serve_forever, daemon=True)
    thread.start()
    yield site
    site.server.shutdown()
    site.server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def server(tmp_path_factory, teacher):
    """A real server that lets one other site show its pages."""
    data_dir = tmp_path_factory.mktemp("framed")
    with serving(data_dir, "--model", "smollm2-135m", TRACEAPP_EMBED_SITES=teacher.url) as started:
        yield started.url


def share(page):
    """The links that sharing gives: of the page, of its deletion, and the frame."""
    page.get_by_role("button", name="Share this trace").click()
    dialog = page.get_by_role("dialog", name="Share this trace")
    expect(dialog).to_contain_text("for 90 days, and whoever has the link can read it")
    dialog.get_by_role("button", name="Store it and get a link").click()
    names = ["Link", "Link that deletes it", "HTML of a frame"]
    fields = [dialog.get_by_role("textbox", name=name, exact=True) for name in names]
    expect(fields[0]).to_be_visible(timeout=PATIENCE_MS)
    return [field.input_value() for field in fields]


def shared_run(page, server, prompt="The moon is"):
    run(page, server, prompt, temperature="1", top_p="0.9", seed=str(2**63 - 1), max_new_tokens="3")
    return share(page)


def test_a_shared_trace_is_read_without_the_model_and_goes_when_its_author_says(
    page, context, server
):
    page.emulate_media(reduced_motion="reduce")
    asked = []
    page.on("request", lambda request: asked.append(request.method + " " + request.url))
    link, delete, _ = shared_run(page, server, PROMPT)
    assert asked.count(f"POST {server}/v1/shared-traces") == 1
    expect(page.get_by_text("Stored. The link is ready to copy.")).to_be_attached()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Share this trace")).to_be_focused()
    page.get_by_role("button", name="Share this trace").click()
    shown = page.get_by_role("textbox", name="Link that deletes it").input_value()
    assert shown == delete
    page.keyboard.press("Escape")
    tokens = drawn(page)
    whole = strip(page).inner_text()

    other = context.new_page()
    problems, sockets = [], []
    other.on("pageerror", lambda error: problems.append(str(error)))
    other.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    other.on("websocket", lambda socket: sockets.append(socket.url))
    other.goto(link)
    expect(other.get_by_role("heading", name="The run in numbers")).to_be_visible()
    assert drawn(other) == tokens
    assert strip(other).inner_text() == whole  # to the bytes of each piece of an emoji
    other.get_by_role("button", name="Step forward").click()
    expect(other.get_by_role("heading", name=re.compile("^Step 2:"))).to_be_visible()
    other.get_by_role("radio", name="Fast").check()
    other.get_by_role("button", name="Play", exact=True).click()
    expect(other.get_by_text("Step 3 of 3")).to_be_visible()
    for name in ["Run", "Share this trace", re.compile("^Follow")]:
        expect(other.get_by_role("button", name=name, exact=True)).to_have_count(0)
    assert violations(other) == []

    cited = other.locator(".citation .line").text_content()
    bibtex = other.locator(".citation pre").text_content()
    other.get_by_role("button", name="Save or cite").click()
    assert other.get_by_role("textbox", name="Citation", exact=True).input_value() == cited
    assert other.get_by_role("textbox", name="Citation for BibTeX").input_value() == bibtex
    assert violations(other) == []
    other.keyboard.press("Escape")
    assert (sockets, problems) == ([], [])

    other.get_by_role("link", name="Run it yourself").click()
    expect(other.get_by_role("textbox", name="Prompt", exact=True)).to_have_value(PROMPT)
    expect(other.get_by_role("textbox", name="Seed")).to_have_value(str(2**63 - 1))
    expect(other.get_by_role("textbox", name="Top-p")).to_have_value("0.9")

    other.goto(delete)
    other.get_by_role("button").last.click()
    assert other.goto(link).status == 404
    other.close()


def test_sharing_says_in_plain_words_why_it_failed_and_tries_again(page, server):
    run(page, server)
    page.route("**/v1/shared-traces", lambda route: route.abort())
    page.get_by_role("button", name="Share this trace").click()
    dialog = page.get_by_role("dialog", name="Share this trace")
    send = dialog.get_by_role("button", name="Store it and get a link")
    send.click()
    expect(dialog.get_by_role("alert")).to_have_text(re.compile("could not be reached"))
    page.unroute("**/v1/shared-traces")
    answer = {"error": {"code": "rate_limited", "message": "m"}}
    headers = {"Retry-After": "7"}
    page.route(
        "**/v1/shared-traces",
        lambda route: route.fulfill(status=429, json=answer, headers=headers),
    )
    send.click()
    expect(dialog.get_by_role("alert")).to_have_text(re.compile("Try again in 7 seconds"))
    assert violations(page) == []
    page.unroute("**/v1/shared-traces")
    send.click()
    expect(dialog.get_by_role("textbox", name="Link", exact=True)).to_be_visible()
    expect(dialog.get_by_role("alert")).to_have_count(0)
    assert violations(page) == []


def framed(page, teacher, html):
    """A page of another site with this in it, and its frame."""
    teacher.html = html
    page.goto(teacher.url)
    return page.frame_locator("iframe")


def heights(page):
    """What the page around the frame has heard, each height once."""
    heard = page.evaluate("window.heard")
    ours = [data["height"] for _, data in heard if data.get("type") == "token-trace:height"]
    canvas = [data["height"] for _, data in heard if data.get("subject") == "lti.frameResize"]
    assert ours == canvas
    assert all(sorted(data) in (["height", "type"], ["height", "subject"]) for _, data in heard)
    return ours


def test_a_frame_on_another_site_runs_fits_and_stores_nothing(page, server, teacher):
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    run(page, server)
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("For a class").click()
    page.get_by_role("checkbox", name="Run as soon as it is open").check()
    page.get_by_role("radio", name="Dark").check()
    page.get_by_text("To show it in another page").click()
    html = page.get_by_role("textbox", name="HTML of a frame").input_value()
    frame = framed(page, teacher, html)
    expect(frame.get_by_role("heading", name="The run in numbers")).to_be_visible(
        timeout=PATIENCE_MS
    )
    assert page.locator("iframe").get_attribute("title") == "Token Trace"
    ground = frame.locator("html").evaluate("e => getComputedStyle(e).backgroundColor")
    assert ground == "rgb(21, 23, 27)"
    for name in ["Copy link", "Save or cite", "Share this trace"]:
        expect(frame.get_by_role("button", name=name)).to_have_count(0)
    # The frame is as high as what is in it, and stays so.
    page.wait_for_function("window.heard.length > 4")
    page.wait_for_function(
        """() => { const heard = window.heard.map(([, data]) => data.height);
        return document.querySelector("iframe").offsetHeight === heard.at(-1); }"""
    )
    spare = "document.documentElement.scrollHeight - innerHeight"
    assert frame.locator("html").evaluate(f"() => {spare}") == 0
    before = len(heights(page))
    frame.get_by_text("All steps as a table").click()
    page.wait_for_function(f"window.heard.length > {2 * before}")
    assert heights(page)[-1] > heights(page)[before - 1]

    own = frame.get_by_role("link", name=re.compile("tab of its own"))
    assert "#prompt=The+moon+is&max_new_tokens=4" in own.get_attribute("href")
    # What the page around says is not listened to.
    page.evaluate(
        """for (const each of [{type: "run"}, {prompt: "x"}, "reload"])
          document.querySelector("iframe").contentWindow.postMessage(each, "*")"""
    )
    expect(frame.get_by_role("textbox", name="Prompt", exact=True)).to_have_value("The moon is")
    assert page.context.cookies() == []
    assert problems == []


def test_a_frame_that_is_closed_off_says_so_and_shows_shared_traces(page, server, teacher):
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    link, _, html = shared_run(page, server)
    assert f'src="{server}/embed/t/' in html
    closed = html.replace("<iframe", '<iframe sandbox="allow-scripts"')
    frame = framed(page, teacher, closed)
    expect(frame.get_by_role("heading", name="The run in numbers")).to_be_visible()
    frame.get_by_role("button", name="Last step").click()
    expect(frame.get_by_text("Step 3 of 3")).to_be_visible()
    page.wait_for_function("window.heard.length > 0")
    assert heights(page)[-1] > 300

    closed = f'<iframe sandbox="allow-scripts" src="{server}/embed#prompt=Once&amp;run=1"></iframe>'
    frame = framed(page, teacher, closed)
    expect(frame.get_by_text("cannot be asked from inside this frame")).to_be_visible()
    expect(frame.get_by_text(f"{server}/#prompt=Once&run=1")).to_be_visible()
    own = frame.get_by_role("link", name=re.compile("tab of its own"))
    assert own.get_attribute("href") == f"{server}/#prompt=Once&run=1"
    assert problems == []
    assert link.startswith(f"{server}/t/")


def test_a_frame_without_its_socket_says_so_and_offers_a_tab(page, server):
    page.set_viewport_size(ZOOMED)
    Wire(page).cut()
    page.goto(f"{server}/embed#prompt=Once&theme=light")
    expect(page.get_by_text("No connection yet.")).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("tab of its own"))).to_be_visible()
    assert sideways(page) == 0
    assert violations(page) == []


def test_paper_has_a_shared_trace_and_no_controls(page, server):
    link, _, _ = shared_run(page, server)
    page.set_viewport_size(ZOOMED)
    page.goto(link)
    await_end(page)
    assert sideways(page) == 0
    expect(ranked(page)).to_be_visible()
    page.emulate_media(media="print")
    for name in ["Save or cite", "Play"]:
        expect(page.get_by_role("button", name=name, exact=True)).to_be_hidden()
    expect(page.get_by_role("link", name="Run it yourself")).to_be_hidden()
    expect(page.locator(".paper").get_by_role("heading", name="The trace")).to_be_visible()
