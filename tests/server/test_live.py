"""The live socket on a real server, over a real connection, with a model of a few kilobytes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from socket import SHUT_RDWR

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tests.commands import ROOT, environment, manage
from tests.inference.weights.tiny import write_folder
from tests.serving import FOR_TESTS, Log, Server, serving

SECONDS = 60.0
COUNT = json.dumps({"type": "count", "id": "c", "prompt": "x"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("tiny"), architecture="llama")


@pytest.fixture(scope="module")
def live(tmp_path_factory, folder):
    """A server for the tests of this module; what they did to it has left no traceback."""
    with serving(tmp_path_factory.mktemp("live"), TRACEAPP_MODEL_PATH=str(folder)) as started:
        yield started
    assert "Traceback" not in started.log.whole()


def opened(server, path="/ws/traces", **options):
    host, port = server.address
    return connect(f"ws://{host}:{port}{path}", open_timeout=SECONDS, max_size=None, **options)


def hear(socket):
    return json.loads(socket.recv(timeout=SECONDS))


def start(socket, prompt="the 2", *, id="r1", forced=(), **fields):
    trace = {"prompt": prompt} | fields
    frame = {"type": "start", "id": id, "trace": trace, "forced": list(forced), "lab": True}
    socket.send(json.dumps(frame))


def until(socket, *types, id=None):
    frames = [hear(socket)]
    while frames[-1]["type"] not in types or id not in {None, frames[-1]["id"]}:
        frames.append(hear(socket))
    return frames


def run(socket, *args, **fields):
    start(socket, *args, **fields)
    return until(socket, "finished", "error")


def code_of_close(socket):
    """The code with which the server closes; frames that come before are passed over."""
    try:
        while True:
            socket.recv(timeout=SECONDS)
    except ConnectionClosed as closing:
        return closing.rcvd and closing.rcvd.code


def without_times(value):
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if not k.endswith("_ms")}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def test_two_sockets_and_the_api_are_served_at_once(live):
    body = {"prompt": "the 2", "max_new_tokens": 32, "temperature": 1, "seed": 3}

    def over_a_socket(_):
        with opened(live) as socket:
            assert hear(socket)["ready"]
            return run(socket, **body)[-1]["trace"]

    def over_http():
        answer = httpx.post(f"{live.url}/v1/traces?include=analysis", json=body, timeout=SECONDS)
        return answer.json()

    with ThreadPoolExecutor(3) as pool:
        asked = pool.submit(over_http)
        traces = [*pool.map(over_a_socket, range(2)), asked.result()]
    assert [without_times(trace) for trace in traces] == [without_times(traces[0])] * 3


def test_a_branch_keeps_to_its_given_tokens(live):
    with opened(live) as socket:
        hear(socket)
        first = run(socket, max_new_tokens=4)[-1]["trace"]
        forced = [step["selected_token_id"] for step in first["steps"][:2]] + [5]
        second = run(socket, max_new_tokens=4, forced=forced)[-1]["trace"]
    assert [step["selected_token_id"] for step in second["steps"][:3]] == forced
    for old, new in zip(first["steps"][:2], second["steps"][:2], strict=True):
        assert new["selected_probability"] == pytest.approx(old["selected_probability"], abs=1e-6)


def test_each_of_many_starts_ends_with_one_frame_of_its_own(live):
    with opened(live) as socket:
        hear(socket)
        for number in range(20):
            start(socket, id=str(number), max_new_tokens=32)
        frames = until(socket, "finished", id="19")
    ends = [frame["id"] for frame in frames if frame["type"] in {"finished", "stopped"}]
    assert ends == [str(number) for number in range(20)]
    assert "error" not in {frame["type"] for frame in frames}


def test_stop_is_heard_while_the_model_runs(live):
    with opened(live) as socket:
        hear(socket)
        start(socket, max_new_tokens=32)
        socket.send(json.dumps({"type": "stop", "id": "r1"}))
        end = until(socket, "finished", "stopped")[-1]
        assert end["type"] == "stopped" or len(end["trace"]["steps"]) < 32
        assert run(socket, max_new_tokens=2)[-1]["type"] == "finished"


def test_clients_that_vanish_leave_the_model_to_the_others(live):
    for _ in range(10):
        with opened(live) as socket:
            start(socket, max_new_tokens=32)
            socket.socket.shutdown(SHUT_RDWR)  # without a word
    with opened(live) as socket:
        hear(socket)
        assert len(run(socket, max_new_tokens=3)[-1]["trace"]["steps"]) <= 3


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        ([b"\x00\x01"], 1003),
        (["not JSON"], 1007),
        (["{}"] * 10, 1008),
        ([COUNT] * 200, 1008),
        (["x" * 16_385], 1009),
        ([["x" * 9000, "x" * 9000]], 1009),  # one message in two parts
    ],
    ids=["binary", "not JSON", "bad frames", "flood", "large frame", "large message"],
)
def test_what_should_not_be_sent_closes_with_a_code(live, frames, code):
    with opened(live) as socket:
        hear(socket)
        try:
            for frame in frames:
                socket.send(frame)
        except ConnectionClosed:
            pass  # in the midst of a flood
        assert code_of_close(socket) == code


def test_text_that_is_not_utf8_closes_with_a_code(live):
    with opened(live) as socket:
        hear(socket)
        socket.send(b'{"type":"\xff"}', text=True)
        assert code_of_close(socket) == 1007


def test_a_frame_of_the_largest_size_is_read(live):
    with opened(live) as socket:
        hear(socket)
        frame = {"type": "count", "id": "c", "prompt": ""}
        frame["prompt"] = "x" * (16 * 1024 - len(json.dumps(frame)))
        socket.send(json.dumps(frame))
        assert hear(socket)["tokens"] == len(frame["prompt"])


def unread_by_the_server(port, client_port):
    """How many bytes of this client's the server has left in the system's hands."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, remote, _, queues, *_ = line.split()
        ports = [int(address.partition(":")[2], 16) for address in (local, remote)]
        if ports == [port, client_port]:
            return int(queues.partition(":")[2], 16)
    raise AssertionError("the connection is gone")


def test_a_client_that_does_not_read_is_not_read_from_either(live):
    body = {"prompt": "the 2", "max_new_tokens": 32, "temperature": 2, "top_k": 10}
    with opened(live, max_queue=1) as socket:
        port, client_port = live.address[1], socket.socket.getsockname()[1]
        unread, sent = 0, 0
        while unread < 3:  # times that something lay there after another request was answered
            start(socket, id=str(sent), **body)
            sent += 1
            assert sent < 400, "the server goes on reading"
            httpx.post(f"{live.url}/v1/traces", json=body, timeout=SECONDS)
            lies_there = unread_by_the_server(port, client_port) > 0
            unread = unread + 1 if lies_there else 0
        socket.socket.shutdown(SHUT_RDWR)


def test_a_foreign_page_is_refused_with_403(live):
    with pytest.raises(InvalidStatus) as refused:
        opened(live, origin="http://evil.example").close()
    assert refused.value.response.status_code == 403


def test_a_key_that_does_not_hold_is_refused_with_401(live):
    with pytest.raises(InvalidStatus) as refused:
        opened(live, additional_headers={"Authorization": f"Bearer tt_{43 * 'A'}"})
    assert refused.value.response.status_code == 401
    assert refused.value.response.headers["WWW-Authenticate"] == "Bearer"


def test_an_own_page_is_let_in(live):
    with opened(live, origin=live.url) as socket:
        assert hear(socket)["type"] == "hello"


def test_an_unknown_path_closes_with_a_code(live):
    with opened(live, "/ws/nothing") as socket:
        assert code_of_close(socket) == 4404


def test_a_server_that_stops_says_so_to_its_sockets(tmp_path, folder):
    with serving(tmp_path, TRACEAPP_MODEL_PATH=str(folder)) as server:
        with opened(server) as idle, opened(server) as busy:
            hear(idle)
            hear(busy)
            start(busy, max_new_tokens=32)
            server.process.terminate()
            assert [code_of_close(idle), code_of_close(busy)] == [1001, 1001]
        log = server.log.whole()
    assert "Traceback" not in log


def test_while_the_model_loads_hello_says_so_and_comes_again(tmp_path, folder):
    given = {"TRACEAPP_DATA_DIR": str(tmp_path), "TRACEAPP_MODEL_PATH": str(folder)} | FOR_TESTS
    assert manage("migrate", "--verbosity", "0", **given).returncode == 0
    server = Server(**given)
    try:
        with opened(server) as socket:
            hellos = [hear(socket)]
            while not hellos[-1]["ready"]:
                assert hellos[-1]["model"]["ready"] is False
                hellos.append(hear(socket))
            assert {hello["type"] for hello in hellos} == {"hello"}
            assert len(hellos) <= 2
            assert run(socket, max_new_tokens=1)[-1]["type"] == "finished"
    finally:
        server.stop()


def test_a_server_started_by_daphnes_own_command_has_the_same_bounds(tmp_path, folder):
    given = {"TRACEAPP_DATA_DIR": str(tmp_path), "TRACEAPP_MODEL_PATH": str(folder)} | FOR_TESTS
    assert manage("migrate", "--verbosity", "0", **given).returncode == 0
    with subprocess.Popen(
        [sys.executable, "-m", "daphne", "-b", "127.0.0.1", "-p", "0", "traceapp.asgi:application"],
        cwd=ROOT,
        env=environment(**given),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            log = Log(process.stdout)
            listening = re.compile(r"Listening on TCP address 127\.0\.0\.1:(\d+)")
            found = log.wait_for(listening, seconds=SECONDS)
            assert found, log.text
            for sent, code in ((b"\x00", 1003), ("x" * 16_385, 1009)):
                with connect(f"ws://127.0.0.1:{found[1]}/ws/traces") as socket:
                    hear(socket)
                    socket.send(sent)
                    assert code_of_close(socket) == code
        finally:
            process.terminate()
        # Before the block is left, which closes what is still being read.
        assert "Traceback" not in log.whole()
