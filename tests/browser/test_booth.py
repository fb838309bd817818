"""The booth in Chromium, on real servers: live, prepared, idle, and back by itself."""

from __future__ import annotations

import json
import socket as sockets
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.booth import (
    IDLE_MS,
    LIVE,
    PREPARED,
    Line,
    Memory,
    await_model,
    await_whole,
    live_replay,
    open_booth,
    play_to_the_end,
    prepared_replay,
    prompt,
    reset,
)
from tests.browser.explorer import PATIENCE_MS, SOCKET, Wire, violations
from tests.commands import manage
from tests.serving import serving

pytestmark = pytest.mark.browser

RECORDED = Path(__file__).parents[2] / "traceapp/recorded/smollm2-135m"
TV = {"width": 1920, "height": 1080}
PHONE = {"width": 320, "height": 640}


def recorded(slug):
    return json.loads((RECORDED / f"{slug}.json").read_text())["trace"]


def status(page):
    return page.get_by_role("status")


def text_so_far(page):
    return page.locator(".written").inner_text()


def test_a_live_run_plays_to_its_end_and_reset_leaves_nothing_of_it(page, server):
    trace = recorded("counting")
    open_booth(page, server)
    await_model(page)
    at_rest = page.locator("main").inner_text()
    prompt(page, "1, 2, 3").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text(LIVE, exact=True)).to_be_visible(timeout=PATIENCE_MS)
    await_whole(page)
    play_to_the_end(page)
    assert text_so_far(page) == trace["prompt"] + trace["generated_text"]
    rows = page.get_by_role("listitem")
    last = trace["steps"][-1]
    expect(rows).to_have_count(1 + len(last["alternatives"]))
    expect(page.get_by_role("listitem").filter(has_text="chosen")).to_have_count(1)
    expect(rows.filter(has_text="chosen")).to_contain_text(
        f"{100 * last['selected_probability']:.1f}"
    )
    page.get_by_role("button", name="Play again").click()
    page.clock.run_for(3_000)
    page.get_by_role("button", name="Pause", exact=True).click()
    so_far = text_so_far(page)
    page.clock.run_for(10_000)
    assert text_so_far(page) == so_far != trace["prompt"] + trace["generated_text"]
    reset(page)
    assert page.locator("main").inner_text() == at_rest
    assert page.url == f"{server}/booth"
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [
        *(0, 0, "")
    ]


def free_port():
    with sockets.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def only_the_first_steps(page):
    """Let a page hear no more than two steps of a run, until that is lifted."""
    held = {"on": True}

    def between(socket):
        real = socket.connect_to_server()

        def say(text):
            frame = json.loads(text)
            late = frame["type"] == "finished" or frame.get("step", {}).get("step", 0) > 1
            if not (held["on"] and late):
                socket.send(text)

        real.on_message(say)

    page.route_web_socket(SOCKET, between)
    return held


@pytest.mark.timeout(300)
def test_a_model_that_goes_midway_is_stood_in_for_and_one_that_is_back_is_asked(page, tmp_path):
    given = ("--model", "smollm2-135m", "--port", str(free_port()))
    data_dir = tmp_path / "data"
    allow = "from inference.models import LimitsRow as L; L.objects.create(booth_free_text=True)"
    held = only_the_first_steps(page)
    with serving(data_dir, *given) as server:
        assert manage("shell", "-c", allow, TRACEAPP_DATA_DIR=str(data_dir)).returncode == 0
        open_booth(page, server.url)
        page.evaluate("window.opened = 'once'")
        await_model(page)
        prompt(page, "The moon is").click()
        expect(page.get_by_text(LIVE, exact=True)).to_be_visible(timeout=PATIENCE_MS)
        # So that the server may take its time to stop: a run that stalls is "slow".
        page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_text(PREPARED, exact=True)).to_be_visible()
    expect(page.locator(".label")).to_contain_text("The model cannot be reached at this moment.")
    page.get_by_role("button", name="Go on", exact=True).click()
    play_to_the_end(page)
    trace = recorded("moon")
    assert text_so_far(page) == trace["prompt"] + trace["generated_text"]
    reset(page)
    page.get_by_role("textbox", name="Or begin it yourself").fill("Once upon a moon")
    page.keyboard.press("Enter")
    expect(page.locator(".label")).to_contain_text("the nearest prompt that was recorded.")
    reset(page)
    expect(page.get_by_role("textbox")).to_have_value("")
    held["on"] = False
    with serving(data_dir, *given):
        page.clock.run_for(20_000)  # the longest wait between two tries
        await_model(page)
        assert page.evaluate("window.opened") == "once"
        page.get_by_role("textbox").fill("Two plus two is")
        page.get_by_role("button", name="Go", exact=True).click()
        expect(page.get_by_text(LIVE, exact=True)).to_be_visible(timeout=PATIENCE_MS)
        await_whole(page)


def test_the_idle_loop_begins_and_ends_by_itself_and_the_touch_that_ends_it_presses_nothing(
    page, server
):
    open_booth(page, server)
    await_model(page)
    box = prompt(page, "1, 2, 3").bounding_box()
    assert box
    page.clock.run_for(IDLE_MS)
    expect(page.get_by_text(PREPARED, exact=True)).to_be_visible()
    expect(page.locator(".written")).to_contain_text(recorded("moon")["prompt"])
    page.clock.run_for(48_000)
    expect(page.locator(".written")).to_contain_text(recorded("counting")["prompt"])
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    expect(prompt(page, "1, 2, 3")).to_be_visible()
    page.clock.run_for(IDLE_MS)
    expect(page.get_by_text(PREPARED, exact=True)).to_be_visible()
    page.keyboard.press("Enter")
    expect(prompt(page, "1, 2, 3")).to_be_visible()


def said_in_its_place(page, frames):
    """Let a page hear frames of some types with something else in them; gives the sockets."""
    opened = []

    def between(socket):
        real = socket.connect_to_server()

        def say(text):
            frame = json.loads(text)
            socket.send(json.dumps(frame | frames.get(frame["type"], {})))

        real.on_message(say)
        opened.append(socket)

    page.route_web_socket(SOCKET, between)
    return opened


BUSY = {"type": "error", "code": "busy", "message": "", "param": None, "retry_after": 1}


@pytest.mark.parametrize(
    ("frames", "why"),
    [
        ({"hello": {"ready": False}}, "The model is still loading."),
        ({"queued": BUSY, "started": BUSY}, "Too many people are asking the model"),
        ({"started": {"id": "of nobody"}, "step": {"id": "of nobody"}}, "takes too long"),
    ],
)
def test_a_model_that_loads_is_busy_or_slow_is_stood_in_for(page, server, frames, why):
    said_in_its_place(page, frames)
    open_booth(page, server)
    expect(page.get_by_text("Looking for the model…")).to_have_count(0)
    prompt(page, "Hello, my name").click()
    if "step" in frames:
        expect(page.get_by_text("Asking the model…")).to_be_visible()
        page.clock.run_for(7_000)
    expect(page.get_by_text(PREPARED, exact=True)).to_be_visible()
    expect(page.locator(".label")).to_contain_text(why)
    expect(page.locator(".label")).to_contain_text("smollm2-135m, revision 12fd25f7.")
    expect(status(page)).to_contain_text(why)


def smallest_type(page):
    """In pixels, of all that is written on the screen."""
    return page.evaluate(
        """Math.min(...[...document.querySelectorAll("main *")]
            .filter((e) => !e.closest(".unseen"))
            .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
            .map((e) => parseFloat(getComputedStyle(e).fontSize)))"""
    )


@pytest.mark.parametrize("size", [TV, PHONE], ids=["tv", "phone"])
def test_axe_finds_nothing_in_any_phase_and_all_fits_the_screen(page, server, size):
    page.set_viewport_size(size)
    page.emulate_media(reduced_motion="reduce")
    wire = Wire(page)
    open_booth(page, server)

    def check():
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        if size is TV:
            assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
            assert smallest_type(page) >= 32
        for scheme in ["light", "dark"]:
            page.emulate_media(color_scheme=scheme)
            assert violations(page) == []

    await_model(page)
    check()
    prompt(page, "Once upon a time").click()
    await_whole(page)
    page.clock.run_for(3_500)
    page.get_by_role("button", name="Pause", exact=True).click()
    check()
    assert page.locator(".bar rect").first.evaluate("e => getComputedStyle(e).transition") in {
        *("none", "all", "all 0s ease 0s")
    }
    reset(page)
    wire.cut()
    expect(page.get_by_text("No connection to the model; trying again")).to_be_visible()
    check()
    prompt(page, "The robot opened").click()
    play_to_the_end(page)
    check()
    reset(page)
    page.clock.run_for(IDLE_MS)
    expect(page.get_by_text("Touch the screen to try it yourself")).to_be_visible()
    check()


def test_nothing_grows_over_20_replays(page, server):
    line = Line(page)
    open_booth(page, server)
    await_model(page)

    def replays(number):
        live_replay(page, "1, 2, 3")
        line.cut()
        for _ in range(number - 1):
            prepared_replay(page, "1, 2, 3")
        line.mend()

    replays(3)  # what is made once is there now
    memory = Memory(page)
    before = memory.now()
    replays(10)
    replays(10)
    after = memory.now()
    assert after["nodes"] <= before["nodes"]
    assert after["listeners"] <= before["listeners"]


def test_full_screen_is_entered_and_left_by_its_button(page, server):
    open_booth(page, server)
    page.get_by_role("button", name="Full screen", exact=True).click()
    expect(page.get_by_role("button", name="Leave full screen")).to_be_visible()
    assert page.evaluate("document.fullscreenElement === document.documentElement")
    page.get_by_role("button", name="Leave full screen").click()
    expect(page.get_by_role("button", name="Full screen", exact=True)).to_be_visible()


COUNT_HELLOS = """
  window.hellos = 0;
  window.WebSocket = class extends WebSocket {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", ({data}) => {
        window.hellos += JSON.parse(data).type === "hello";
      });
    }
  };
"""


def test_a_page_that_finds_another_model_loads_itself_again_but_not_under_a_visitors_hands(
    page, server
):
    frames = {}
    opened = said_in_its_place(page, frames)
    page.add_init_script(COUNT_HELLOS)
    open_booth(page, server)
    await_model(page)
    page.evaluate("window.opened = 'once'")
    prompt(page, "The moon is").click()
    await_whole(page)
    page.clock.run_for(IDLE_MS)  # older than a page that would load in a circle
    frames["hello"] = {"model": httpx.get(f"{server}/v1/models").json()["data"][0] | {"alias": "x"}}
    opened[-1].close(code=1012)
    page.wait_for_function("() => window.hellos === 2", timeout=PATIENCE_MS)
    await_model(page)
    assert page.evaluate("window.opened") == "once"
    frames.clear()  # the time that was sped up goes on in the new page, which is as old
    page.get_by_role("button", name="Reset", exact=True).click()
    page.wait_for_function("() => window.opened === undefined")
    await_model(page)


@pytest.mark.parametrize("size", [TV, PHONE], ids=["tv", "phone"])
def test_without_its_script_the_prompts_are_forms_in_which_axe_finds_nothing(page, server, size):
    page.route("**/booth*.js", lambda route: route.abort())  # axe needs scripts of its own
    page.set_viewport_size(size)
    page.goto(f"{server}/booth")
    assert violations(page) == []
    prompt(page, "The moon is").click()
    expect(page.get_by_role("heading", name="The trace")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_role("region", name="Step 20")).to_have_count(1)
