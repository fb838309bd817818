"""
The product with a model that loads when a test says so: `python -m tests.held serve --port 0`.

All is as `manage.py` has it, but before it loads the model it connects to the test's gate and
waits until that lets go. So a test sees a page while the model loads, on any machine.
"""

from __future__ import annotations

import os
import socket
import sys
from types import TracebackType
from typing import Any

from tests.commands import PYTHON

PROGRAM = (PYTHON, "-m", "tests.held", "serve")
PORT = "LOAD_GATE"
PATIENCE_SECONDS = 60.0


class LoadGate:
    """The test's end: closed until `open`; a load that comes to it waits."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(PATIENCE_SECONDS)

    @property
    def variables(self) -> dict[str, str]:
        """What the program finds the gate by."""
        return {PORT: str(self._listener.getsockname()[1])}

    def open(self) -> None:
        """Wait until the load has come, and let it go on."""
        coming, _ = self._listener.accept()
        coming.close()

    def __enter__(self) -> LoadGate:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.close()


def wait_at_gate() -> None:
    with socket.create_connection(("127.0.0.1", int(os.environ[PORT]))) as gate:
        gate.recv(1)  # nothing comes; it returns when the other end closes


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "traceapp.settings")
    from django.core.management import execute_from_command_line

    from inference.engine import loading

    load = loading.load_engine

    def held(*args: Any, **options: Any) -> Any:
        wait_at_gate()
        return load(*args, **options)

    loading.load_engine = held
    execute_from_command_line(["manage.py", *sys.argv[1:]])


if __name__ == "__main__":
    main()
