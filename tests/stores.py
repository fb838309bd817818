"""PostgreSQL and Redis for real: each in a folder and on a port of its own, and let go at any time.

PostgreSQL refuses to run as root, and a folder of pytest's is closed to all others; so both run
as an unprivileged user where the tests run as root, in a folder that is theirs.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

START_SECONDS = 60.0
USER = "nobody" if os.geteuid() == 0 else None  # None: whoever runs the tests
POSTGRESQL = sorted(Path("/usr/lib/postgresql").glob("*/bin"))  # where Debian has it


def program(name: str) -> str:
    """Where it lies. `.ci/stores` brings it."""
    path = os.pathsep.join([*map(str, reversed(POSTGRESQL)), os.environ["PATH"]])
    found = shutil.which(name, path=path)
    assert found, f"{name} is not on this machine; .ci/stores installs it"
    return found


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Store:
    """A server of data in a folder, which outlives its process."""

    name = ""

    def __init__(self) -> None:
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix=f"token-trace-{self.name}-"))
        if USER is not None:
            shutil.chown(self.folder, USER)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        raise NotImplementedError

    def command(self) -> Sequence[str]:
        raise NotImplementedError

    def is_ready(self) -> bool:
        raise NotImplementedError

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self.command(), stdout=log, stderr=log, user=USER, cwd=self.folder
            )
        deadline = time.monotonic() + START_SECONDS
        while not self.is_ready():
            assert self._process.poll() is None, self._log()
            assert time.monotonic() < deadline, self._log()
            time.sleep(0.05)

    def crash(self) -> None:
        """End it at once, with nothing written that is not written already."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Let it keep its connections, and say nothing."""
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal_all(signal.SIGCONT)

    def remove(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.thaw()
            self.crash()
        shutil.rmtree(self.folder)

    def run(self, *command: str) -> str:
        """One command as the store's user; its output."""
        done = subprocess.run(command, user=USER, cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _end(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        self._process.wait(START_SECONDS)

    def _signal_all(self, number: signal.Signals) -> None:
        """To the process and its children."""
        assert self._process is not None
        parent = self._process.pid
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        for pid in [parent, *map(int, children)]:
            with suppress(ProcessLookupError):  # a child that has just ended
                os.kill(pid, number)

    def _log(self) -> str:
        return (self.folder / "log").read_text()


class Redis(Store):
    name = "redis"

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def command(self) -> Sequence[str]:
        redis = program("redis-server")
        return [redis, "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]

    def is_ready(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


class PostgreSQL(Store):
    name = "postgresql"

    def __init__(self) -> None:
        super().__init__()
        made = ["--auth=trust", "--username=trace", "--encoding=UTF8", "--no-sync", "--locale=C"]
        self.run(program("initdb"), *made, "--pgdata=data")

    @property
    def url(self) -> str:
        return f"postgres://trace@127.0.0.1:{self.port}/postgres"

    def command(self) -> Sequence[str]:
        options = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
        }
        given = [f"--{name}={value}" for name, value in options.items()]
        return [program("postgres"), "-D", "data", *given]

    def is_ready(self) -> bool:
        ready = [program("pg_isready"), "--host=127.0.0.1", f"--port={self.port}", "--quiet"]
        return subprocess.run(ready).returncode == 0

    def crash(self) -> None:
        """As SIGKILL would, but that it ends its children too: no checkpoint, no last write."""
        self._end(signal.SIGQUIT)

    def rows(self, table: str) -> int:
        return int(self.query(f"SELECT count(*) FROM {table}"))

    def query(self, sql: str) -> str:
        where = ["--host=127.0.0.1", f"--port={self.port}", "--username=trace"]
        return self.run(
            program("psql"), *where, "--tuples-only", "--no-align", f"--command={sql}", "postgres"
        ).strip()
