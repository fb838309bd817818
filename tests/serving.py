"""The product itself for tests: `manage.py serve` in a process of its own, on a free port."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import httpx

from tests.commands import command, environment, manage

SERVE = tuple(command("serve"))
READY_LINE = re.compile(r"Token Trace is at http://[^:]+:(\d+)/")
START_SECONDS = 180.0  # a first start compiles the kernels, perhaps beside other work
STOP_SECONDS = 30.0

# No rate, for these clients are one; one thread, for two that share a busy core wait for each
# other in every step; and a deadline that a slow machine keeps.
FOR_TESTS = {
    "TRACEAPP_RATE_PER_MINUTE": "0",
    "TRACEAPP_THREADS": "1",
    "TRACEAPP_DEADLINE_SECONDS": "100",
}


class Log:
    """What a process has written so far, on both of its outputs."""

    def __init__(self, stream: IO[str]) -> None:
        self._lines: list[str] = []
        self._changed = threading.Condition()
        self._ended = False
        self._reader = threading.Thread(target=self._read, args=[stream], daemon=True)
        self._reader.start()

    @property
    def text(self) -> str:
        with self._changed:
            return "".join(self._lines)

    def wait_for(self, pattern: str | re.Pattern[str], *, seconds: float) -> re.Match[str] | None:
        """The first match; None when the process has ended or the time is over without one."""
        deadline = time.monotonic() + seconds
        with self._changed:
            while True:
                if found := re.search(pattern, "".join(self._lines)):
                    return found
                remaining = deadline - time.monotonic()
                if self._ended or remaining <= 0:
                    return None
                self._changed.wait(remaining)

    def whole(self) -> str:
        """All that was written, once the process has ended."""
        self._reader.join(STOP_SECONDS)
        return self.text

    def _read(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                with self._changed:
                    self._lines.append(line)
                    self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()


class Server:
    """One running `manage.py serve`, or another program that serves and says the same."""

    def __init__(self, *arguments: str, program: Sequence[str] = SERVE, **variables: str) -> None:
        self.process = subprocess.Popen(
            [*program, "--port", "0", *arguments],
            env=environment(**variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout is not None
        self.log = Log(self.process.stdout)

    @property
    def url(self) -> str:
        """The address that it announced, by number: a name may be tried at ::1 first."""
        found = self.log.wait_for(READY_LINE, seconds=START_SECONDS)
        assert found, self.log.text
        return f"http://127.0.0.1:{found[1]}"

    @property
    def address(self) -> tuple[str, int]:
        """For a bare socket."""
        host, _, port = self.url.removeprefix("http://").partition(":")
        return host, int(port)

    def wait_until_ready(self) -> None:
        assert self.log.wait_for("the model is ready after", seconds=START_SECONDS), self.log.text
        deadline = time.monotonic() + START_SECONDS
        while httpx.get(f"{self.url}/health").status_code != 200:
            assert time.monotonic() < deadline, self.log.text

    def memory(self) -> int:
        """What it holds of the machine's memory, in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"^VmRSS:\s+(\d+) kB$", status, re.M)
        assert found
        return 1024 * int(found[1])

    def stop(self) -> int:
        """End it as a service manager does; its exit status."""
        self.process.terminate()
        return self.ended()

    def ended(self, *, seconds: float = STOP_SECONDS) -> int:
        """Its exit status, once it has ended by itself; one that does not is killed."""
        try:
            return self.process.wait(seconds)
        finally:
            self.process.kill()
            self.process.wait()


@contextmanager
def serving(
    data_dir: Path, *arguments: str, program: Sequence[str] = SERVE, **variables: str
) -> Iterator[Server]:
    """A server that is ready, with its own database in `data_dir`."""
    given = {"TRACEAPP_DATA_DIR": str(data_dir)} | FOR_TESTS | variables
    migrated = manage("migrate", "--verbosity", "0", **given)
    assert migrated.returncode == 0, migrated.stderr
    server = Server(*arguments, program=program, **given)
    try:
        server.wait_until_ready()
        yield server
    finally:
        status = server.stop()
    assert status == 0, server.log.text
