"""Clients that a server meets: many at once, watching, leaving, slow, or told by hand."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx

from tests.serving import Server

JSON = {"Content-Type": "application/json"}


def one_trace(**fields: Any) -> dict[str, Any]:
    return {"prompt": "1, 2, 3, 4, 5, 6,", "max_new_tokens": 32, "top_k": 10} | fields


def request_bytes(body: dict[str, Any], path: str = "/v1/traces") -> bytes:
    content = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


def read_to_end(connection: socket.socket) -> bytes:
    """What comes until the other side closes, or resets."""
    received = b""
    try:
        while part := connection.recv(65536):
            received += part
    except ConnectionError:
        pass
    return received


@contextmanager
def watching(server: Server, *, every: float = 0.05) -> Iterator[list[float]]:
    """Ask for /health again and again meanwhile: the seconds that each answer took."""
    seconds: list[float] = []
    over = threading.Event()

    def watch() -> None:
        connection = HTTPConnection(*server.address, timeout=60)
        while not over.wait(every):
            begun = time.monotonic()
            connection.request("GET", "/health")
            answer = connection.getresponse()
            answer.read()
            seconds.append(time.monotonic() - begun)
            assert answer.status == 200
        connection.close()

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seconds
    finally:
        over.set()
        watcher.join()


def without_times(value: Any) -> Any:
    """A trace without what may differ between two runs of one request."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if not k.endswith("_ms")}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def in_flight(server: Server) -> tuple[int, int]:
    """How many requests run and how many wait."""
    values = gauges(server)
    return int(values["token_trace_requests_running"]), int(values["token_trace_requests_waiting"])


def gauges(server: Server) -> dict[str, float]:
    answer = httpx.get(f"{server.url}/metrics/json", timeout=60).json()
    return {gauge["name"]: gauge["value"] for gauge in answer["gauges"]}


def counters(server: Server) -> dict[tuple[str, ...], float]:
    """Each counter by its name and the values of its labels."""
    answer = httpx.get(f"{server.url}/metrics/json", timeout=60).json()
    return {
        (counter["name"], *counter["labels"].values()): counter["value"]
        for counter in answer["counters"]
    }


def wait_until_idle(server: Server, *, seconds: float = 60) -> float:
    """How long it takes until nothing runs or waits."""
    begun = time.monotonic()
    while in_flight(server) != (0, 0):
        assert time.monotonic() - begun < seconds, in_flight(server)
    return time.monotonic() - begun


def settled(count: Callable[[Server], int], server: Server, *, seconds: float = 1.0) -> int:
    """The least that it counts within a moment: a request's own thread ends after its answer."""
    over = time.monotonic() + seconds
    least = count(server)
    while time.monotonic() < over:
        time.sleep(0.02)
        least = min(least, count(server))
    return least


def threads_of(server: Server) -> int:
    return len(list(Path(f"/proc/{server.process.pid}/task").iterdir()))


def files_of(server: Server) -> int:
    """The handles that it holds, but for its database's.

    SQLite keeps the handle of a connection that closes while another is open, for the next one:
    closing it would drop the other's locks. They are as many as requests were served at once.
    """
    held = 0
    for handle in Path(f"/proc/{server.process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            held += "sqlite3" not in handle.readlink().name
    return held
