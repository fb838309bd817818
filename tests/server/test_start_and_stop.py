"""How the server begins and ends, on models of a few kilobytes."""

from __future__ import annotations

import json
import resource
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import httpx
import pytest
from tokenizers import Tokenizer, models
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from inference.catalogue import EMBEDDED
from inference.weights.wheel import gguf_path
from tests.commands import manage
from tests.inference.weights.tiny import cut_short, edit_config, write_folder, write_gguf
from tests.serving import SERVE, Server, serving

ANNOUNCED = "Token Trace is at"


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("tiny"), architecture="llama")


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory):
    made = tmp_path_factory.mktemp("data")
    assert manage("migrate", "--verbosity", "0", TRACEAPP_DATA_DIR=str(made)).returncode == 0
    return made


def truncated_safetensors(place):
    write_folder(place, architecture="llama")
    cut_short(place / "model.safetensors", by=1000)
    return place


def wrong_architecture(place):
    write_folder(place, architecture="llama")
    edit_config(place, model_type="gpt2", architectures=["GPT2LMHeadModel"])
    return place


def truncated_gguf(place):
    write_gguf(place / "model.gguf")
    cut_short(place / "model.gguf", by=1000)
    return place / "model.gguf"


def wrong_gguf_architecture(place):
    write_gguf(place / "model.gguf", architecture="gpt2")
    return place / "model.gguf"


def no_model(place):
    (place / "model.gguf").write_bytes(b"not a model at all")
    return place / "model.gguf"


def missing(place):
    return place / "nothing-here"


def processor_seconds():
    """What the processes that ended have used: on a busy machine the clock says less."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize(
    "bad",
    [
        truncated_safetensors,
        wrong_architecture,
        truncated_gguf,
        wrong_gguf_architecture,
        no_model,
        missing,
    ],
)
def test_a_model_that_cannot_be_loaded_ends_the_server_with_a_reason(tmp_path, data_dir, bad):
    path = bad(tmp_path)
    before = processor_seconds()
    server = Server(TRACEAPP_DATA_DIR=str(data_dir), TRACEAPP_MODEL_PATH=str(path))
    status = server.ended(seconds=60)
    taken = processor_seconds() - before
    log = server.log.whole()
    assert status == 3, log
    assert taken < 10
    assert " CRITICAL traceapp.asgi: " in log.strip().splitlines()[-1]
    assert "Traceback" not in log
    assert "is ready" not in log


def test_a_failure_that_only_loading_finds_ends_the_server_too(tmp_path, data_dir):
    """It happens on the worker's thread, while the address is open already."""
    write_folder(tmp_path, architecture="llama")
    other = Tokenizer(models.WordLevel({"▁the": 0, "▁moon": 1}, unk_token="▁the"))
    other.save(str(tmp_path / "tokenizer.json"))
    server = Server(TRACEAPP_DATA_DIR=str(data_dir), TRACEAPP_MODEL_PATH=str(tmp_path))
    assert server.ended(seconds=110) == 3
    log = server.log.whole()
    assert "the model cannot be loaded: token 0 is not byte-level BPE" in log
    assert "Traceback" not in log
    assert "is ready" not in log


def test_weights_that_are_not_the_pinned_ones_end_the_server(tmp_path, data_dir):
    assert EMBEDDED.wheel is not None
    gguf = gguf_path(EMBEDDED.wheel, tmp_path)
    gguf.parent.mkdir(parents=True)
    gguf.write_bytes(b"GGUF but another")
    given = {"TRACEAPP_DATA_DIR": str(data_dir), "TRACEAPP_WEIGHTS_DIR": str(tmp_path)}
    server = Server("--model", EMBEDDED.alias, **given)
    assert server.ended(seconds=60) == 3
    assert f"fetch_model {EMBEDDED.alias}" in server.log.whole()
    assert ANNOUNCED not in server.log.text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "gpt-4"], "no approved model 'gpt-4'"),
        (["--model", "qwen3-0.6b"], "fetch_model"),
    ],
)
def test_a_named_model_that_is_not_here_ends_the_server(tmp_path, data_dir, arguments, said):
    server = Server(
        *arguments,
        TRACEAPP_DATA_DIR=str(data_dir),
        TRACEAPP_WEIGHTS_DIR=str(tmp_path),
        HF_HUB_CACHE=str(tmp_path),
    )
    assert server.ended(seconds=60) == 3
    assert said in server.log.whole()
    assert ANNOUNCED not in server.log.text


def test_a_database_that_is_not_migrated_is_refused_in_one_line(tmp_path, folder):
    run = manage(
        "serve", "--port", "0", TRACEAPP_DATA_DIR=str(tmp_path), TRACEAPP_MODEL_PATH=str(folder)
    )
    assert run.returncode == 1
    (line,) = run.stderr.strip().splitlines()
    assert "python manage.py migrate" in line
    assert ANNOUNCED not in run.stdout


def test_an_address_that_is_taken_is_an_error(data_dir, folder):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        run = manage(
            "serve",
            *("--port", port),
            TRACEAPP_DATA_DIR=str(data_dir),
            TRACEAPP_MODEL_PATH=str(folder),
        )
    assert run.returncode == 1
    assert f"cannot listen on 127.0.0.1, port {port}" in run.stderr
    assert ANNOUNCED not in run.stdout


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_promptly_and_well(tmp_path, folder, sent):
    with serving(tmp_path, TRACEAPP_MODEL_PATH=str(folder)) as server:
        models = httpx.get(f"{server.url}/v1/models").json()["data"]
        assert [entry["source"] for entry in models] == ["local"]
        server.process.send_signal(sent)
        assert server.ended() == 0
        assert "Traceback" not in server.log.text


def test_a_signal_while_the_model_loads_ends_the_server_too(data_dir, folder):
    server = Server(TRACEAPP_DATA_DIR=str(data_dir), TRACEAPP_MODEL_PATH=str(folder))
    assert server.log.wait_for(ANNOUNCED, seconds=60), server.log.text
    assert server.stop() == 0


# Stopping while there is work

TRACE = {"prompt": "the 2", "max_new_tokens": 32}
LONG = {"prompt": "the 2", "max_tokens": 256, "stream": True, "model": "m", "n": 8}


@contextmanager
def opened(server):
    host, port = server.address
    with connect(f"ws://{host}:{port}/ws/traces", max_size=None, open_timeout=30) as socket:
        assert json.loads(socket.recv(30))["type"] == "hello"
        yield socket


def frames_until_closed(socket):
    """What is heard until the server closes, and with which code."""
    heard = []
    with suppress(ConnectionClosed):
        while True:
            heard.append(json.loads(socket.recv(60)))
    assert socket.close_code is not None
    return heard, socket.close_code


def asks(server, answers):
    """Send traces one after the other, until the server says that it stops."""
    with httpx.Client(base_url=server.url, timeout=60) as client:
        while True:
            try:
                answer = client.post("/v1/traces", json=TRACE)
            except httpx.ConnectError:  # it has gone: nothing was begun
                return
            answers.append(answer)
            if answer.status_code == 503:
                return


def test_a_signal_under_load_breaks_no_answer(tmp_path, folder):
    """Everybody gets a whole answer or a 503 that says when to come back; a run ends, then 1001."""
    answers = []
    with serving(tmp_path, TRACEAPP_MODEL_PATH=str(folder)) as server:
        clients = [threading.Thread(target=asks, args=[server, answers]) for _ in range(6)]
        with opened(server) as idle, opened(server) as busy, ThreadPoolExecutor() as pool:
            busy.send(json.dumps({"type": "start", "id": "r", "trace": TRACE}))
            ended = [pool.submit(frames_until_closed, each) for each in (idle, busy)]
            for client in clients:
                client.start()
            while len(answers) < 12:
                clients[0].join(0.01)
            server.process.send_signal(signal.SIGTERM)
            for client in clients:
                client.join(60)
            (silence, idle_code), (heard, busy_code) = (each.result(60) for each in ended)
        assert server.ended() == 0
        log = server.log.whole()
    assert silence == []
    assert (idle_code, busy_code) == (1001, 1001)
    assert heard[-1]["type"] == "finished"
    assert {answer.status_code for answer in answers} <= {200, 503}
    for answer in answers:
        body = answer.json()
        if answer.status_code == 503:
            assert body["error"]["code"] == "shutting_down"
            assert int(answer.headers["Retry-After"]) >= 1
        else:
            assert len(body["steps"]) == 32 or body["finish_reason"] == "eos"
    assert "stopping: what runs has 25 s" in log
    assert "Traceback" not in log
    assert " ERROR " not in log


def test_a_server_that_began_with_profile_writes_what_its_model_did(folder, tmp_path):
    output = tmp_path / "profiles"
    flags = ("--profile", "--profile-output", str(output))
    with serving(tmp_path / "data", *flags, TRACEAPP_MODEL_PATH=str(folder)) as server:
        for path in ("/start_profile", "/v1/traces", "/stop_profile"):
            body = {"prompt": "a", "max_new_tokens": 3}
            assert httpx.post(f"{server.url}{path}", json=body, timeout=60).status_code == 200
    (profile,) = output.iterdir()
    events = json.loads(profile.read_text())["traceEvents"]
    assert [event["name"] for event in events].count("KernelDecoder.decode") == 2
    assert len({event["tid"] for event in events}) == 1
    assert all(event["dur"] >= 0 for event in events)


IMPATIENT = """
import os, sys, django
os.environ["DJANGO_SETTINGS_MODULE"] = "traceapp.settings"
django.setup()
from django.core.management import execute_from_command_line
from traceapp.management.commands import serve
serve.IDLE_SECONDS = 1.0
execute_from_command_line(["manage.py", *sys.argv[1:]])
"""


def test_a_connection_that_stays_silent_is_ended(folder, tmp_path):
    """After a second here; the first is one that was never used, the other was."""
    program = (*SERVE[:1], "-c", IMPATIENT, "serve")
    with serving(tmp_path, program=program, TRACEAPP_MODEL_PATH=str(folder)) as server:
        for asked in (b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            with socket.create_connection(server.address, timeout=30) as connection:
                connection.sendall(asked)
                while connection.recv(4096):
                    pass
