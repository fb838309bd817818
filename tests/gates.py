"""What lets a test hold a model still and go on when it says so: no test here ever sleeps."""

from __future__ import annotations

import threading
from typing import Any


class Gate(threading.Semaphore):
    """A closed gate: whoever comes to it says so, and waits for a permit."""

    def __init__(self) -> None:
        super().__init__(0)
        self.reached = threading.Semaphore(0)

    def acquire(self, blocking: bool = True, timeout: float | None = None) -> bool:
        self.reached.release()
        return super().acquire(blocking, timeout)

    def open(self) -> None:
        """Let everybody pass from now on."""
        self.release(100_000)


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Watched:
    """An engine that notes which thread does what, and may raise where an engine must not."""

    def __init__(self, engine: Any, *, raises: Exception | None = None) -> None:
        self.vocabulary = engine.vocabulary
        self.token_index = engine.token_index
        self.max_batch = engine.max_batch
        self.threads: set[str] = set()
        self.raises = raises  # once, from the next turn
        self._engine = engine

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self._engine.encode(text)
        return ids

    def open(self, request: Any) -> Any:
        self.threads.add(threading.current_thread().name)
        return self._engine.open(request)

    def release(self, generation: Any) -> None:
        self.threads.add(threading.current_thread().name)
        self._engine.release(generation)

    def forget(self, owner: str) -> None:
        self.threads.add(threading.current_thread().name)
        self._engine.forget(owner)

    def turn(self, generations: Any) -> Any:
        self.threads.add(threading.current_thread().name)
        if self.raises is not None:
            error, self.raises = self.raises, None
            raise error
        return self._engine.turn(generations)
