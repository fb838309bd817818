"""SIGTERM while the server is at work."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager, suppress

import httpx
import pytest

from tests.commands import manage
from tests.reliability.clients import one_trace
from tests.reliability.faulty import SNAIL
from tests.reliability.figures import size
from tests.reliability.test_faults import FAULTY
from tests.serving import Server, serving

pytestmark = pytest.mark.timeout(300)


def test_sigterm_breaks_no_answer(tmp_path, row):
    """SIGTERM under load."""
    answers, broken, refused = [], [], []

    def ask(url, number):
        """Ask until nobody answers any more."""
        with httpx.Client(base_url=url, timeout=120) as client:
            while True:
                try:
                    answer = client.post("/v1/traces", json=one_trace(seed=number))
                except httpx.ConnectError:
                    return refused.append(number)
                except httpx.TransportError as error:
                    return broken.append(repr(error))
                answers.append((answer.status_code, answer.json()))
                if answer.status_code == 503:
                    return None

    with serving(tmp_path, "--model", "smollm2-135m") as server:
        clients = [
            threading.Thread(target=ask, args=[server.url, number]) for number in range(size(16, 6))
        ]
        for client in clients:
            client.start()
        while len(answers) < len(clients):  # all are at work
            assert server.process.poll() is None
            clients[0].join(0.1)
        status = server.stop()
        for client in clients:
            client.join()
    served = sum(code == 200 for code, _ in answers)
    told = [body["error"]["code"] for code, body in answers if code == 503]
    others = {code for code, _ in answers} - {200, 503}
    row.holds("exit 0", f"{status}", status == 0)
    row.holds(
        "no broken answer",
        f"{served} served, {len(told)} told, {len(refused)} found nobody, {len(broken)} broken",
        not broken and not others and served > 0,
    )


def settings_of(tiny_folder, *, seconds):
    return {"TRACEAPP_MODEL_PATH": str(tiny_folder), "TRACEAPP_STOP_SECONDS": str(seconds)}


@contextmanager
def streaming(server):
    """The lines to come of a stream that takes 12 s and has begun."""
    body = {"prompt": SNAIL, "max_tokens": 256, "stream": True}
    with httpx.stream("POST", f"{server.url}/v1/completions", json=body, timeout=60) as stream:
        lines = (line for line in stream.iter_lines() if line)
        next(lines)
        yield lines


def test_what_cannot_end_in_time_is_told(tmp_path, tiny_folder):
    with serving(tmp_path, program=FAULTY, **settings_of(tiny_folder, seconds=1)) as server:
        with streaming(server) as lines:
            server.process.send_signal(signal.SIGTERM)
            events = list(lines)
        assert server.ended() == 0
    assert '"code": 503' in events[-2]
    assert events[-1] == "data: [DONE]"
    assert len(events) < 250


def test_a_second_signal_does_not_wait(tmp_path, tiny_folder):
    given = settings_of(tiny_folder, seconds=60)
    assert manage("migrate", "--verbosity", "0", TRACEAPP_DATA_DIR=str(tmp_path)).returncode == 0
    server = Server(program=FAULTY, TRACEAPP_DATA_DIR=str(tmp_path), **given)
    server.wait_until_ready()
    with suppress(httpx.RemoteProtocolError), streaming(server) as lines:
        server.process.send_signal(signal.SIGTERM)
        assert server.log.wait_for("stopping: what runs has 60 s", seconds=60)
        server.process.send_signal(signal.SIGTERM)
        assert server.ended() == 1
        list(lines)
