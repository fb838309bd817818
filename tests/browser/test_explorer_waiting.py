"""The live page while it must wait, on real servers: a queue, no place at all, a loading model."""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect
from websockets.sync.client import connect

from tests.browser.explorer import (
    PATIENCE_MS,
    SOCKET,
    await_end,
    drawn,
    fill,
    open_page,
    violations,
)
from tests.commands import manage
from tests.held import PROGRAM, LoadGate
from tests.serving import FOR_TESTS, Server

pytestmark = pytest.mark.browser

PATIENCE_SECONDS = PATIENCE_MS / 1000
# What the server itself says, as tests/traceapp/wire holds it to.
SPECIMENS = Path(__file__).parent.parent / "data" / "frames"
LOADING = "is loading."


@contextmanager
def full_model(server):
    """Every place with the model is taken, by one request for all that it can do at once."""
    asked = {"prompt": "The moon is", "n": 8, "max_tokens": 256, "ignore_eos": True, "stream": True}
    with httpx.stream(
        "POST", f"{server}/v1/completions", json=asked, timeout=PATIENCE_SECONDS
    ) as answer:
        lines = answer.iter_lines()  # kept: dropping it would end the request
        next(lines)
        yield


@contextmanager
def waiting(server, number):
    """So many others wait for the model, each on a socket of its own."""
    start = {"type": "start", "id": "r", "trace": {"prompt": "The moon is"}}
    with ExitStack() as others:
        for _ in range(number):
            address = server.replace("http", "ws", 1) + "/ws/traces"
            other = others.enter_context(connect(address, open_timeout=PATIENCE_SECONDS))
            other.send(json.dumps(start))
            while json.loads(other.recv(timeout=PATIENCE_SECONDS))["type"] != "queued":
                pass
        yield


def axe_finds_nothing_in_light_or_dark(page):
    for scheme in ["light", "dark"]:
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []


def press_run(page):
    page.get_by_role("button", name="Run", exact=True).click()


def test_the_place_in_the_queue_is_shown_as_it_comes_nearer(page, server):
    open_page(page, server)
    fill(page, "1, 2, 3, 4, 5, 6,", max_new_tokens="2")
    with full_model(server):
        with waiting(server, 2):
            press_run(page)
            expect(page.get_by_text("You are number 3 in the queue.")).to_be_visible()
        expect(page.get_by_text("You are next in the queue.")).to_be_visible()
    await_end(page)
    assert drawn(page) == ["␣", "7"]


def test_a_run_in_the_queue_can_be_stopped(page, server):
    open_page(page, server)
    fill(page, "The moon is")
    with full_model(server):
        press_run(page)
        expect(page.get_by_text("You are next in the queue.")).to_be_visible()
        page.get_by_role("button", name="Stop", exact=True).click()
        expect(page.get_by_text("in the queue.")).to_have_count(0)


def test_a_queue_without_a_place_is_said_in_plain_words_and_what_was_typed_stays(page, server):
    most = httpx.get(f"{server}/v1/limits").json()["max_waiting"]
    open_page(page, server)
    fill(page, "1, 2, 3, 4, 5, 6,", max_new_tokens="2")
    alert = page.get_by_role("alert")
    with full_model(server), waiting(server, 7 + most):
        press_run(page)
        expect(alert).to_contain_text("Too many people are waiting")
        expect(alert).to_contain_text("what you typed stays")
        expect(alert).to_be_in_viewport(ratio=1)
        axe_finds_nothing_in_light_or_dark(page)
    press_run(page)
    await_end(page)
    expect(alert).to_have_count(0)
    assert drawn(page) == ["␣", "7"]


@contextmanager
def starting(data_dir, gate):
    """A server that listens, while its model is held at a gate before it is loaded."""
    given = {"TRACEAPP_DATA_DIR": str(data_dir)} | FOR_TESTS
    migrated = manage("migrate", "--verbosity", "0", **given)
    assert migrated.returncode == 0, migrated.stderr
    started = Server("--model", "smollm2-135m", program=PROGRAM, **given, **gate.variables)
    try:
        yield started
    finally:
        assert started.stop() == 0, started.log.text


def test_a_page_opened_while_the_model_loads_says_so_and_becomes_ready_by_itself(page, tmp_path):
    with LoadGate() as gate, starting(tmp_path, gate) as server:
        open_page(page, server.url)
        expect(page.get_by_text("The model smollm2-135m is loading.")).to_be_visible()
        expect(page.get_by_text("it starts by itself once the model is ready")).to_be_visible()
        fill(page, "1, 2, 3, 4, 5, 6,", max_new_tokens="2")
        press_run(page)
        expect(page.get_by_text("Waiting for the model: it starts by itself…")).to_be_visible()
        gate.open()
        server.wait_until_ready()
        expect(page.get_by_text(LOADING)).to_have_count(0, timeout=PATIENCE_MS)
        await_end(page)
        assert drawn(page) == ["␣", "7"]


@pytest.mark.parametrize("width", [1280, 320])
def test_axe_finds_nothing_while_a_run_waits(page, server, width):
    page.set_viewport_size({"width": width, "height": 800})
    open_page(page, server)
    fill(page, "The moon is")
    with full_model(server):
        press_run(page)
        expect(page.get_by_text("You are next in the queue.")).to_be_visible()
        axe_finds_nothing_in_light_or_dark(page)


def specimen(name):
    """A frame as the server writes it."""
    return json.loads((SPECIMENS / f"server_{name}.json").read_text())


def answer_in_its_place(page, **frames):
    """Let a page hear another frame of the server's in the place of each of that type."""

    def between(socket):
        real = socket.connect_to_server()

        def say(text):
            frame = json.loads(text)
            if frame["type"] in frames:
                frame = frames[frame["type"]] | ({"id": frame["id"]} if "id" in frame else {})
            socket.send(json.dumps(frame))

        real.on_message(say)

    page.route_web_socket(SOCKET, between)


@pytest.mark.parametrize("width", [1280, 320])
def test_a_failure_of_the_server_is_said_where_the_trace_ends_and_axe_finds_nothing(
    page, server, width
):
    page.set_viewport_size({"width": width, "height": 800})
    failed = {"code": "inference_failed", "message": "the model failed", "param": None}
    answer_in_its_place(page, finished=specimen("error") | failed)
    open_page(page, server)
    fill(page, "The moon is", max_new_tokens="1")
    press_run(page)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The model failed while it ran", timeout=PATIENCE_MS)
    expect(alert).to_be_in_viewport(ratio=1)
    expect(page.get_by_text("It failed here; what had come stays.")).to_be_visible()
    axe_finds_nothing_in_light_or_dark(page)


@pytest.mark.parametrize("width", [1280, 320])
def test_axe_finds_nothing_while_the_model_loads(page, server, width):
    page.set_viewport_size({"width": width, "height": 800})
    answer_in_its_place(page, hello=specimen("hello_loading"))
    open_page(page, server)
    expect(page.get_by_text(LOADING)).to_be_visible()
    fill(page, "The moon is")
    press_run(page)
    expect(page.get_by_text("Waiting for the model: it starts by itself…")).to_be_visible()
    axe_finds_nothing_in_light_or_dark(page)
