"""A process that ends in the middle of its work."""

from __future__ import annotations

import random
import re
import sqlite3
import threading
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field

import httpx
import pytest

from tests.commands import manage
from tests.reliability.clients import one_trace
from tests.reliability.figures import size
from tests.serving import Server

pytestmark = pytest.mark.timeout(3000)

PASSWORD = "correct horse battery staple"


class Administrator:
    """Saves the row of limits by the admin's own form, again and again."""

    FORM = "/admin/inference/limitsrow/"

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=url, timeout=60, follow_redirects=True)
        self._client.get("/admin/login/")
        self._post("/admin/login/", {"username": "ada", "password": PASSWORD, "next": "/admin/"})

    def __enter__(self) -> Administrator:
        return self

    def __exit__(self, *error: object) -> None:
        self._client.close()

    def save(self, rate: int) -> None:
        """Raises httpx.TransportError where the server goes away."""
        page = self._client.get(f"{self.FORM}1/change/")
        if page.url.path.endswith("/change/"):
            path = f"{self.FORM}1/change/"
        else:
            page, path = self._client.get(f"{self.FORM}add/"), f"{self.FORM}add/"
        self._post(path, _fields_of(page.text) | {"rate_per_minute": str(rate)})

    def page(self) -> httpx.Response:
        """What the form's address answers now."""
        return self._client.get(f"{self.FORM}1/change/")

    def _post(self, path: str, form: dict[str, str]) -> None:
        token = {"csrfmiddlewaretoken": self._client.cookies["csrftoken"]}
        referer = {"Referer": str(self._client.base_url.join(path))}
        answer = self._client.post(path, data=form | token, headers=referer)
        assert answer.status_code == 200, answer.text
        assert "errornote" not in answer.text, re.findall(r"errorlist.*?</ul>", answer.text, re.S)


def _fields_of(page: str) -> dict[str, str]:
    """What the form would send as it stands: inputs, ticked boxes and text areas."""
    fields = {}
    for tag in re.findall(r"<input[^>]*>", page):
        named = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if "name" not in named or named.get("type") in {"submit", "hidden"}:
            continue
        if named.get("type") != "checkbox":
            fields[named["name"]] = named.get("value", "")
        elif re.search(r"\bchecked\b", tag):
            fields[named["name"]] = "on"
    areas = re.findall(r'<textarea[^>]*name="(\w+)"[^>]*>\r?\n?(.*?)</textarea>', page, re.S)
    return fields | dict(areas)


@dataclass
class Said:
    """What the server has promised so far."""

    shares: list[str] = field(default_factory=list)
    saved: int = 0  # the rate that was saved last
    next: int = 100_000  # the rate that is being saved


def busy(server, said):
    """Traces, admin saves and shares without end; what was promised goes into `said`."""

    def trace_and_share():
        with httpx.Client(base_url=server.url, timeout=60) as client:
            while True:
                answer = client.post(
                    "/v1/traces?include=analysis", json=one_trace(max_new_tokens=2)
                )
                receipt = answer.headers["X-Trace-Receipt"]
                shared = client.post(
                    "/v1/shared-traces", json={"trace": answer.json(), "receipt": receipt}
                )
                assert shared.status_code == 201, shared.text
                said.shares.append(shared.json()["id"])

    def administer():
        with Administrator(server.url) as administrator:
            while True:
                said.next += 1
                administrator.save(said.next)
                said.saved = said.next

    def until_it_ends(work):
        with suppress(httpx.TransportError):
            work()

    threads = [
        threading.Thread(target=until_it_ends, args=[w]) for w in (trace_and_share, administer)
    ]
    for thread in threads:
        thread.start()
    return threads


def test_kill_9_loses_nothing_that_was_promised(tmp_path, tiny_folder, row):
    """kill -9 100 times, during traces, admin saves and shares."""
    given = {
        "TRACEAPP_DATA_DIR": str(tmp_path),
        "TRACEAPP_MODEL_PATH": str(tiny_folder),
        "TRACEAPP_RATE_PER_MINUTE": "0",
    }
    assert manage("migrate", "--verbosity", "0", **given).returncode == 0
    made = manage(
        *("createsuperuser", "--no-input", "--username", "ada", "--email", "ada@example.com"),
        DJANGO_SUPERUSER_PASSWORD=PASSWORD,
        **given,
    )
    assert made.returncode == 0, made.stderr
    said = Said()
    chance, times, damaged, lost = random.Random(3), size(100, 2), 0, 0
    for _ in range(times):
        server = Server(**given)
        server.wait_until_ready()
        shares, saved = len(said.shares), said.saved
        threads = busy(server, said)
        while len(said.shares) == shares or said.saved == saved:  # both are at work
            assert all(thread.is_alive() for thread in threads)
            threads[0].join(0.05)
        time.sleep(chance.uniform(0, 1))  # at any moment
        server.process.kill()
        server.process.wait()
        for thread in threads:
            thread.join()
        with closing(sqlite3.connect(tmp_path / "token-trace.sqlite3")) as database:
            (verdict,) = database.execute("PRAGMA integrity_check").fetchone()
            damaged += verdict != "ok"
            rows = database.execute("SELECT rate_per_minute FROM inference_limitsrow").fetchall()
            # The last save may have been written and never acknowledged.
            lost += said.saved > 0 and rows not in ([(said.saved,)], [(said.next,)])
    server = Server(**given)
    try:
        server.wait_until_ready()
        gone = [
            share
            for share in said.shares
            if httpx.get(f"{server.url}/v1/shared-traces/{share}").status_code != 200
        ]
    finally:
        assert server.stop() == 0
    row.holds("database intact", f"{times - damaged} of {times}", damaged == 0)
    row.holds("limits intact", f"{times - lost} of {times}; {said.saved}", lost == 0)
    row.holds(
        "shares intact, restart ready", f"{len(said.shares)} shared, {len(gone)} lost", not gone
    )
    assert said.saved > 100_000
