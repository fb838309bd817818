"""Two hundred megabytes where sixteen kilobytes are allowed."""

from __future__ import annotations

import json
import select
import socket
import time

import pytest

from tests.reliability.clients import read_to_end
from tests.reliability.figures import size

pytestmark = pytest.mark.timeout(300)

MEGABYTE = 1_000_000
HEAD = b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
PART = b"x" * 65536


def upload(server, head, part, size_bytes):
    """Send until an answer comes or all is sent; the answer, and the seconds it took to come."""
    with socket.create_connection(server.address, timeout=60) as connection:
        begun = time.monotonic()
        connection.sendall(head)
        sent = 0
        while sent < size_bytes and not select.select([connection], [], [], 0)[0]:
            try:
                sent += connection.send(part)
            except ConnectionError:
                break
        assert select.select([connection], [], [], 60)[0]
        seconds = time.monotonic() - begun
        return read_to_end(connection), seconds


def test_an_upload_is_refused_at_once(tiny_server, row):
    """200 MB upload, with length and chunked."""
    size_bytes = size(200, 50) * MEGABYTE
    for name, head, part in (
        ("with a length", HEAD + b"Content-Length: %d\r\n\r\n" % size_bytes, PART),
        (
            "in chunks",
            HEAD + b"Transfer-Encoding: chunked\r\n\r\n",
            b"%x\r\n%s\r\n" % (len(PART), PART),
        ),
    ):
        memory = tiny_server.memory()
        taken = []
        for _ in range(5):
            answer, seconds = upload(tiny_server, head, part, size_bytes)
            taken.append(1000 * seconds)
            status, _, body = answer.partition(b"\r\n\r\n")
            assert status.startswith(b"HTTP/1.1 413 "), status
            assert json.loads(body)["error"]["code"] == "payload_too_large"
        held = (tiny_server.memory() - memory) / MEGABYTE
        middle = sorted(taken)[2]
        row.measures(f"{name}: 413 JSON in 50 ms", f"{middle:.0f} ms", middle < 50)
        row.measures(f"{name}: memory under +20 MB", f"{held:+.1f} MB", held < 20)
