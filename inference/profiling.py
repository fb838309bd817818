"""
Where the model's time goes, as a Chrome trace file.

Where transformers runs the model, by torch's own profiler; else the functions of this project, the
kernels' passes among them. Both record the thread that asks, so they are asked on the worker's.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from pathlib import Path
from typing import Any

from inference.runtime import Runtime
from inference.spans import Spans


class Profiler:
    """One recording at a time; starting or stopping twice does no harm."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = asyncio.Lock()
        self._recording: Any = None

    async def start(self, serving: Runtime) -> None:
        """Record from the model's next turn on. Raises NotReady."""
        async with self._lock:
            await serving.perform(partial(self._begin, serving.card.engine))

    async def stop(self, serving: Runtime) -> None:
        """End the recording and write it to the folder. Raises NotReady, or OSError."""
        async with self._lock:
            await serving.perform(self._end)

    def _begin(self, engine: str) -> None:
        if self._recording is None:
            self._recording = _recorder(engine)
            self._recording.start()

    def _end(self) -> None:
        if self._recording is None:
            return
        recording, self._recording = self._recording, None
        recording.stop()
        self._folder.mkdir(parents=True, exist_ok=True)
        name = time.strftime("trace-%Y%m%d-%H%M%S", time.gmtime())
        recording.export_chrome_trace(str(self._folder / f"{name}-{time.time_ns() % 10**9}.json"))


def _recorder(engine: str) -> Any:
    if engine == "kernels":  # torch would see nothing
        return Spans()
    from torch.profiler import ProfilerActivity, profile

    return profile(activities=[ProfilerActivity.CPU])
