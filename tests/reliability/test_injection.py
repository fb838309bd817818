"""Headers and texts that mean to be more than they are."""

from __future__ import annotations

import json
import socket
from http.client import HTTPResponse

import pytest

from tests.reliability.clients import one_trace
from tests.serving import serving

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def logged(tmp_path_factory, tiny_folder):
    """A server that writes its log as JSON, with a rate that four requests use up."""
    folder = tmp_path_factory.mktemp("injection")
    given = {"TRACEAPP_MODEL_PATH": str(tiny_folder), "TRACEAPP_LOG_FORMAT": "json"}
    with serving(folder, TRACEAPP_RATE_PER_MINUTE="4", **given) as started:
        yield started


def ask(server, *lines, path="/v1/traces", prompt="the 2"):
    """Status and head of the answer to a trace with these header lines."""
    body = json.dumps(one_trace(prompt=prompt, max_new_tokens=1)).encode()
    head = [
        f"POST {path} HTTP/1.1".encode(),
        *(line if isinstance(line, bytes) else line.encode() for line in lines),
        b"Content-Type: application/json",
        b"Connection: close",
        b"Content-Length: %d" % len(body),
    ]
    with socket.create_connection(server.address, timeout=60) as connection:
        connection.sendall(b"\r\n".join([*head, b"", body]))
        answer = HTTPResponse(connection)
        answer.begin()
        return answer.status, str(answer.headers), answer.read()


LOCAL = "Host: localhost"


FOREIGN_HOSTS = (
    "evil.example",
    "localhost.evil.example",
    "evil.example:80@localhost",
    "localhost, evil.example",
    "localhost/@evil.example",
    "",
    "127.0.0.1.nip.io",
    "[::1]evil",
    "localhost\x00",
)
FOREIGN_ORIGINS = (
    "http://evil.example",
    "null",
    "http://localhost.evil.example",
    "http://localhost@evil.example",
    "https://localhost:1",
    "http://localhost:1",
    "file://",
    "localhost",
    "http://LOCALHOST.",
    "http://[::1]:99999",
)
# A header line, and what may be answered to it.
FORGED_LINES = (
    (b"X-Request-ID: a\rInjected: yes", {400}),
    (b"X-Request-ID: a\nInjected: yes", {200, 400, 429}),
    (b"X-Request-ID: " + b"a" * 10_000, {200, 400, 429, 431}),
    (b"X-Request-ID: \x1b[31mred", {200, 400, 429}),
    (b"X_Forwarded_For: 1.2.3.4", {200, 400, 429}),
    (b"Transfer-Encoding: chunked", {400}),
    (b"Content-Length: 5", {400}),
)


def test_no_foreign_host_is_let_in(tiny_server, row):
    """Host, Origin, X-Forwarded-For, header and log injection tables."""
    answers = {host: ask(tiny_server, f"Host: {host}") for host in FOREIGN_HOSTS}
    let_in = [host for host, (status, _, _) in answers.items() if status != 400]
    row.holds(f"{len(answers)} foreign hosts: none let in", f"{let_in}", not let_in)
    assert not [head for _, head, _ in answers.values() if "evil" in head]


def test_no_foreign_origin_is_let_in(tiny_server, row):
    """Host, Origin, X-Forwarded-For, header and log injection tables."""
    answers = {name: ask(tiny_server, LOCAL, f"Origin: {name}") for name in FOREIGN_ORIGINS}
    let_in = [
        origin
        for origin, (status, head, body) in answers.items()
        if status != 403
        or json.loads(body)["error"]["code"] != "origin_not_allowed"
        or "access-control-allow-origin" in head.lower()
    ]
    row.holds(f"{len(answers)} foreign origins: none let in", f"{let_in}", not let_in)


def test_a_forwarded_address_is_nobodys_word(logged, row):
    """Host, Origin, X-Forwarded-For, header and log injection tables."""
    statuses = [ask(logged, LOCAL, f"X-Forwarded-For: 10.0.0.{n}")[0] for n in range(12)]
    refused = statuses.count(429)
    row.holds("12 forged addresses share a rate of 4", f"{refused} refused", refused >= 8)


def test_no_header_is_forged(logged, row):
    """Host, Origin, X-Forwarded-For, header and log injection tables."""
    answers = {line: ask(logged, LOCAL, line) for line, _ in FORGED_LINES}
    forged = [
        line
        for line, statuses in FORGED_LINES
        if answers[line][0] not in statuses
        or "injected" in answers[line][1].lower()
        or "\x1b" in answers[line][1]
    ]
    row.holds(f"{len(answers)} header lines: none forges another", f"{forged}", not forged)


def test_the_log_is_one_record_a_line(logged, row):
    """Host, Origin, X-Forwarded-For, header and log injection tables."""
    nasty = '%s %n {0} \n2026-01-01 CRITICAL forged \x1b[2J "} {"level":"critical'
    ask(logged, LOCAL, prompt=nasty)
    ask(logged, LOCAL, "X-Request-ID: a\tb", f"User-Agent: {nasty.splitlines()[0]}")
    ask(logged, LOCAL, path="/v1/%0aCRITICAL%20forged%1b")
    logged.stop()
    lines = logged.log.whole().splitlines()
    records = [line for line in lines if not line.startswith("Token Trace is at")]
    broken = []
    for line in records:
        try:
            json.loads(line)
        except ValueError:
            broken.append(line)
    row.holds("one JSON record a line", f"{len(records)} lines, {len(broken)} broken", not broken)
    assert not [line for line in lines if "forged" in line or "\x1b" in line]
