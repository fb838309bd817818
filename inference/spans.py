"""Which of the project's functions the thread that asks ran, and when: a Chrome trace file."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from types import FrameType
from typing import Any

FOLDER = f"{Path(__file__).parent}{os.sep}"
MOST_EVENTS = 500_000  # some 100 MB; whoever forgets to stop loses the rest


class Spans:
    """A recording of one thread; `start` and `stop` are called on it."""

    def __init__(self) -> None:
        self._begun: list[tuple[str, int]] = []  # what runs: its name, and its start in nanoseconds
        self._events: list[dict[str, Any]] = []

    def start(self) -> None:
        sys.setprofile(self._note)

    def stop(self) -> None:
        sys.setprofile(None)

    def export_chrome_trace(self, path: str) -> None:
        Path(path).write_text(json.dumps({"traceEvents": self._events, "displayTimeUnit": "ms"}))

    def _note(self, frame: FrameType, event: str, _value: object) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(FOLDER):
            return
        now = time.perf_counter_ns()
        if event == "call":
            self._begun.append((code.co_qualname, now))
        elif self._begun:  # else it was called before the recording began
            name, begun = self._begun.pop()
            if len(self._events) < MOST_EVENTS:
                self._events.append(
                    {
                        "name": name,
                        "ph": "X",
                        "ts": begun / 1000,  # microseconds, as the format has them
                        "dur": (now - begun) / 1000,
                        "pid": os.getpid(),
                        "tid": threading.get_native_id(),
                    }
                )
