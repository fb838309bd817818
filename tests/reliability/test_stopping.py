"""SIGTERM while the server is at work."""

from __future__ import annotations

import threading

import httpx
import pytest

from tests.reliability.clients import one_trace
from tests.reliability.figures import size
from tests.serving import serving

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
