"""Clients that take their time, with their headers, their body or the answer."""

from __future__ import annotations

import re
import socket
import time
from contextlib import ExitStack, suppress

import httpx
import pytest

from tests.reliability.clients import files_of, watching
from tests.reliability.figures import FULL, p99, size

pytestmark = pytest.mark.timeout(600)

MEGABYTE = 1_000_000
HEAD = b"POST /v1/traces HTTP/1.1\r\nHost: localhost\r\n"


def slow_headers(connection, second, script):
    connection.send(HEAD if second == 0 else b"X-%d: y\r\n" % second)


def slow_body(connection, second, script):
    connection.send(HEAD + b"Content-Length: 9999\r\n\r\n{" if second == 0 else b" ")


def slow_reading(connection, second, script):
    """Asks for the page's script, and takes it a few bytes a second."""
    if second == 0:
        connection.send(f"GET {script} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    else:
        connection.recv(10)


def test_slow_clients_hold_up_nobody(tiny_server, row):
    """Slow headers, slow body, slow reading, 300 connections."""
    server, seconds = tiny_server, size(30, 3)
    (script,) = re.findall(r'src="(/static/build/explorer[^"]*)"', httpx.get(server.url).text)
    files, memory = files_of(server), server.memory()
    with ExitStack() as stack, watching(server) as health:
        while not health:  # which takes a connection, too
            time.sleep(0.1)
        watched = files_of(server)
        slow = []
        for number in range(size(300, 60)):
            connection = stack.enter_context(socket.create_connection(server.address))
            connection.setblocking(False)
            slow.append((connection, (slow_headers, slow_body, slow_reading)[number % 3]))
        for second in range(seconds):
            for connection, part in slow:
                with suppress(OSError):  # the server has had enough of it, or said nothing yet
                    part(connection, second, script)
            time.sleep(1)  # how slow they are
        held = (server.memory() - memory) / MEGABYTE
        over = time.monotonic()
        if FULL:  # they stop, but do not close: the server does
            while files_of(server) > watched and time.monotonic() - over < 90:
                time.sleep(1)
        gone = time.monotonic() - over
    while files_of(server) > files and time.monotonic() - over < 90:
        time.sleep(0.1)
    left = files_of(server) - files
    slowest = 1000 * p99(health)
    row.measures("/health p99 under 200 ms", f"{slowest:.0f} ms", slowest < 200)
    row.measures("memory under +50 MB", f"{held:+.1f} MB", held < 50)
    row.measures("all gone within 60 s of the end", f"{gone:.0f} s", gone <= 60)
    row.holds("no handle stays", f"{left:+d}", left <= 0)
