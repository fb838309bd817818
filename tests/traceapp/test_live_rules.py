"""The live socket: who may open it, what it may be sent, and how it is closed."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from inference import runtime
from inference.models import LimitsRow
from inference.runtime import Runtime
from tests.fakes import CARD, scripted_engine, tiny_engine
from tests.gates import Clock
from tests.sockets import Socket
from traceapp.incoming import BadFrame, CloseSocket, Incoming

COUNT = json.dumps({"type": "count", "id": "c", "prompt": "x"})


# The greeting


async def test_the_first_frame_says_what_is_served_and_on_which_terms(unlimited, install, post):
    install(tiny_engine("llama"))
    await LimitsRow.objects.acreate(pk=1, max_new_tokens=7)
    socket = Socket()
    await socket.open()
    hello = await socket.hear()
    await socket.leave()
    assert hello.keys() == {"type", "model", "limits", "vocabulary", "ready", "versions"}
    assert (hello["type"], hello["ready"]) == ("hello", True)
    assert hello["model"]["alias"] == CARD.alias
    assert hello["limits"]["max_new_tokens"] == 7
    assert hello["vocabulary"] == len(runtime.current().engine.vocabulary.tokens)
    assert hello["versions"].keys() == {"token_trace", "torch", "transformers"}


async def test_while_the_model_loads_a_run_is_refused_and_hello_comes_again(unlimited):
    loads = threading.Event()

    def load():
        loads.wait(60)
        return scripted_engine("ab")

    serving = Runtime(CARD, load, on_failure=lambda error: None)
    runtime.install(serving)
    try:
        socket = Socket()
        await socket.open()
        hello = await socket.hear()
        assert (hello["ready"], hello["model"]["ready"], hello["vocabulary"]) == (False, False, 0)
        for ask in (socket.start, lambda: socket.send(COUNT)):
            await ask()
            assert (await socket.hear())["code"] == "not_ready"
        loads.set()
        hello = await socket.hear()
        assert (hello["type"], hello["ready"], hello["model"]["ready"]) == ("hello", True, True)
        assert hello["vocabulary"] > 256
        assert (await socket.run())[-1]["type"] == "finished"
        await socket.leave()
    finally:
        loads.set()
        runtime.install(None)
        await asyncio.to_thread(serving.close)


async def test_a_process_without_a_model_says_so(unlimited):
    socket = Socket()
    await socket.open()
    hello = await socket.hear()
    assert (hello["model"], hello["ready"]) == (None, False)
    (error,) = await socket.run()
    assert error["code"] == "not_ready"
    await socket.leave()


# Questions


async def test_a_text_is_counted_in_tokens(connect, install):
    install("ab")
    await LimitsRow.objects.acreate(pk=1, max_prompt_tokens=9)
    socket = await connect()
    for text, tokens in (("", 0), (" the moon", 2), ("x" * 2000, 2000), ("🙂", 4)):
        await socket.say("count", id="c1", prompt=text)
        assert await socket.hear() == {"type": "count", "id": "c1", "tokens": tokens, "limit": 9}


async def test_tokens_are_found_by_how_they_begin_the_exact_one_first(connect, install):
    install("ab")
    socket = await connect()
    await socket.say("find", id="f1", text=" the")
    found = (await socket.hear())["tokens"]
    assert [token["token"] for token in found] == [" the"]
    assert bytes(found[0]["bytes"]) == b" the"
    await socket.say("find", id="f2", text="<|")
    frame = await socket.hear()
    assert (frame["type"], frame["id"]) == ("found", "f2")
    assert [token["special"] for token in frame["tokens"]] == [True] * 3
    await socket.say("find", id="f3", text="no such token")
    assert (await socket.hear())["tokens"] == []


# Who may open it


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://testserver"},
        {"origin": "https://testserver"},
        {"origin": "http://localhost:8000", "host": "localhost:8000"},
        {"origin": "https://school.example"},
    ],
)
async def test_programs_own_pages_and_listed_sites_may_open_it(unlimited, settings, headers):
    settings.ALLOWED_HOSTS = ["testserver", "localhost"]
    await LimitsRow.objects.acreate(pk=1, allowed_origins="https://school.example")
    socket = Socket(**headers)
    assert await socket.open()
    await socket.leave()


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://["},
        {"origin": "http://testserver:81"},
        {"origin": "http://testserver.evil.example"},
        # A name of the foreign site's own that leads to this machine.
        {"origin": "http://evil.example", "host": "evil.example"},
    ],
)
async def test_any_other_page_is_refused_before_the_socket_opens(unlimited, settings, headers):
    settings.ALLOWED_HOSTS = ["testserver"]
    socket = Socket(**headers)
    assert not await socket.open()
    assert socket.code == 4403


@pytest.mark.parametrize("path", ["/", "/ws/traces/", "/ws/nothing", "/v1/traces"])
async def test_an_unknown_path_is_closed_with_a_code(path):
    socket = Socket(path)
    assert await socket.open()
    assert await socket.closed() == 4404
    await socket.leave()


# What it may be sent


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"\x00", 1003),
        ("not JSON", 1007),
        ("[" * 10_000, 1007),
        ('{"type":"stop","type":"stop","id":"x"}', 1007),
        ('{"type":"count","id":"x","prompt":NaN}', 1007),
    ],
)
async def test_what_is_no_json_text_closes_the_socket(connect, install, sent, code):
    install("ab")
    socket = await connect()
    await socket.send(sent)
    assert await socket.closed() == code


@pytest.mark.parametrize(
    ("sent", "id", "param"),
    [
        ({}, None, "type"),
        ([], None, None),
        ({"type": "run", "id": "x"}, "x", "type"),
        ({"type": "stop"}, None, "id"),
        ({"type": "stop", "id": ""}, None, "id"),
        ({"type": "stop", "id": "x" * 65}, None, "id"),
        ({"type": "stop", "id": 1}, None, "id"),
        ({"type": "stop", "id": "x", "more": 1}, "x", "more"),
        ({"type": "start", "id": "x", "trace": {}}, "x", "prompt"),
        ({"type": "start", "id": "x"}, "x", "trace"),
        ({"type": "start", "id": "x", "trace": {"prompt": "a"}, "forced": [1.5]}, "x", "forced"),
        ({"type": "start", "id": "x", "trace": {"prompt": "a"}, "lab": 1}, "x", "lab"),
        ({"type": "start", "id": "x", "trace": {"prompt": "\ud800"}}, "x", "prompt"),
        ({"type": "stop", "id": "\ud800"}, None, "id"),
        ({"type": "find", "id": "x", "text": ""}, "x", "text"),
    ],
)
async def test_a_frame_that_is_not_valid_is_answered_and_names_the_field(
    connect, install, sent, id, param
):
    install("ab")
    socket = await connect()
    await socket.send(json.dumps(sent))
    error = await socket.hear()
    assert (error["type"], error["code"]) == ("error", "invalid_request")
    assert (error["id"], error["param"]) == (id, param)
    assert error["message"]
    await socket.send(COUNT)
    assert (await socket.hear())["type"] == "count"


def test_the_tenth_frame_in_a_row_that_is_not_valid_closes():
    incoming = Incoming(Clock())
    for _ in range(9):
        with pytest.raises(BadFrame):
            incoming.read("{}")
    with pytest.raises(CloseSocket) as closing:
        incoming.read("{}")
    assert closing.value.code == 1008


def test_a_good_frame_between_bad_ones_is_a_fresh_start():
    clock = Clock()
    incoming = Incoming(clock)
    for _ in range(30):
        clock.now += 1
        with pytest.raises(BadFrame):
            incoming.read("{}")
        incoming.read(COUNT)


def test_more_than_fifty_frames_in_a_second_close_and_fifty_do_not():
    clock = Clock()
    incoming = Incoming(clock)
    for _ in range(3):
        for _ in range(50):
            incoming.read(COUNT)
        clock.now += 1
    for _ in range(50):
        incoming.read(COUNT)
    clock.now += 0.99
    with pytest.raises(CloseSocket) as closing:
        incoming.read(COUNT)
    assert closing.value.code == 1008


async def test_after_a_socket_is_closed_nothing_more_is_said(connect, install):
    install("ab")
    socket = await connect()
    await socket.send("not JSON")
    assert await socket.closed() == 1007
    await socket.send(COUNT)
    await socket.start()
    await socket.leave()
    assert socket.is_silent()
