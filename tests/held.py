"""
The product with a model that waits for the test's word: `python -m tests.held serve --port 0`.

All is as `manage.py` has it, but where the test has put a gate, the model connects to it and waits
until that lets go. So a test sees a page while the model loads, or in the middle of a run, on any
machine.
"""

from __future__ import annotations

import os
import socket
import sys
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from tests.commands import PYTHON

PROGRAM = (PYTHON, "-m", "tests.held", "serve")
LOAD, RUN = "LOAD_GATE", "RUN_GATE"
STEPS_BEFORE_GATE = 3
PATIENCE_SECONDS = 60.0


class Gate:
    """The test's end: whatever comes to it waits for `open`, which lets one through."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(PATIENCE_SECONDS)

    @property
    def variables(self) -> dict[str, str]:
        """What the program finds the gate by."""
        return {self._name: str(self._listener.getsockname()[1])}

    def open(self) -> None:
        """Wait until something has come, and let it go on."""
        coming, _ = self._listener.accept()
        coming.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.close()


class LoadGate(Gate):
    """Before the model is loaded."""

    def __init__(self) -> None:
        super().__init__(LOAD)


class RunGate(Gate):
    """After the first `STEPS_BEFORE_GATE` steps of each run."""

    def __init__(self) -> None:
        super().__init__(RUN)


def wait_at_gate(name: str) -> None:
    with (
        suppress(ConnectionError),  # a test that failed has taken its gate away
        socket.create_connection(("127.0.0.1", int(os.environ[name]))) as gate,
    ):
        gate.recv(1)  # nothing comes; it returns when the other end closes


def hold_loads() -> None:
    from inference.engine import loading

    load = loading.load_engine

    def held(*args: Any, **options: Any) -> Any:
        wait_at_gate(LOAD)
        return load(*args, **options)

    loading.load_engine = held


def hold_runs() -> None:
    from inference.engine.engine import ModelEngine

    take_turn = ModelEngine.turn

    def held(self: Any, generations: Any) -> Any:
        for generation in generations:
            if any(len(choice.token_ids) == STEPS_BEFORE_GATE for choice in generation.live):
                wait_at_gate(RUN)
        return take_turn(self, generations)

    ModelEngine.turn = held  # type: ignore[method-assign]


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "traceapp.settings")
    from django.core.management import execute_from_command_line

    for gate, hold in {LOAD: hold_loads, RUN: hold_runs}.items():
        if gate in os.environ:
            hold()
    execute_from_command_line(["manage.py", *sys.argv[1:]])


if __name__ == "__main__":
    main()
