"""The server under clients that ask at once, and what it adds to the bare engine."""

from __future__ import annotations

import re
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import httpx

from inference.engine.engine import ModelEngine
from inference.engine.types import SamplingParams
from tests.benchmarks.figures import TOP, percentile, table
from tests.benchmarks.ways import EngineWay
from tests.serving import FOR_TESTS, Server, serving

CLIENTS = (1, 4, 16, 32)
SECONDS = 10.0
SENTENCE = "The quick brown fox jumps over the lazy dog near the river bank while the sun is "


@contextmanager
def running(threads: int) -> Iterator[Server]:
    with (
        tempfile.TemporaryDirectory(prefix="token-trace-bench-") as folder,
        serving(Path(folder), "--model", "smollm2-135m", TRACEAPP_THREADS=str(threads)) as server,
    ):
        yield server


def body(number: int, new_tokens: int) -> dict[str, object]:
    """A request of about 64 prompt tokens, another for each number."""
    return {
        "model": "smollm2-135m",
        "prompt": f"{number}. {SENTENCE * 3}",
        "max_new_tokens": new_tokens,
        "top_k": TOP,
        "temperature": 1.0,
        "seed": number,
    }


def under_load(server: Server) -> str:
    """Traces a second and their times, at so many clients that each ask again at once."""
    rows = []
    alone = 0.0
    for clients in CLIENTS:
        taken, elapsed = _ask(server.url, clients)
        rate = len(taken) / elapsed
        alone = alone or rate
        rows.append(
            (
                f"{clients}",
                f"{rate:.2f}",
                f"{rate / alone:.2f}",
                f"{percentile(taken, 0.5):.2f}",
                f"{percentile(taken, 0.95):.2f}",
            )
        )
    return table(("clients", "traces a second", "against one", "p50, s", "p95, s"), rows)


def _ask(url: str, clients: int) -> tuple[list[float], float]:
    taken: list[float] = []
    until = time.perf_counter() + SECONDS

    def client(number: int) -> None:
        with httpx.Client(timeout=120) as http:
            while time.perf_counter() < until:
                begun = time.perf_counter()
                http.post(f"{url}/v1/traces", json=body(number, 32)).raise_for_status()
                taken.append(time.perf_counter() - begun)

    threads = [threading.Thread(target=client, args=[number]) for number in range(clients)]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken, time.perf_counter() - begun


def over_the_engine(server: Server, engine: ModelEngine, *, rounds: int) -> str:
    """A trace of 16 tokens through the server and without it, in turns."""
    asked = body(0, 16)
    way = EngineWay("", engine)
    ids = engine.encode(str(asked["prompt"]))
    bare, served = [], []
    with httpx.Client(timeout=120) as http:
        for turn in range(rounds + 1):
            begun = time.perf_counter()
            http.post(f"{server.url}/v1/traces", json=asked).raise_for_status()
            middle = time.perf_counter()
            way.trace(ids, 16, sampling=SamplingParams(seed=0))
            if turn:
                served.append((middle - begun) * 1000)
                bare.append((time.perf_counter() - middle) * 1000)
    added = median(served) - median(bare)
    return (
        f"A trace of 16 tokens takes {median(served):.0f} ms through the server and "
        f"{median(bare):.0f} ms in the engine: {added:+.1f} ms, {added / median(bare):+.1%}.\n"
    )


def start(threads: int) -> str:
    """From the command to ready, with the kernels compiled before; and the memory held."""
    given = {"TRACEAPP_THREADS": str(threads)}
    with tempfile.TemporaryDirectory(prefix="token-trace-bench-") as folder:
        with serving(Path(folder), "--model", "smollm2-135m", **given):
            pass
        begun = time.perf_counter()
        server = Server("--model", "smollm2-135m", TRACEAPP_DATA_DIR=folder, **FOR_TESTS | given)
        try:
            server.wait_until_ready()
            ready = time.perf_counter() - begun
            httpx.post(f"{server.url}/v1/traces", json=body(0, 32), timeout=120).raise_for_status()
            memory = server.memory()
        finally:
            server.stop()
    loaded = re.search(r"ready after ([\d.]+) s", server.log.text)
    assert loaded
    return (
        f"A second start is ready {ready:.1f} s after the command, of which the model takes "
        f"{loaded[1]} s. After a trace the process holds {memory / 1e6:.0f} MB.\n"
    )
