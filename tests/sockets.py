"""A client of the live socket in this process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator

from traceapp.routing import socket_application

# Longer than any test takes; what never comes fails it.
PLENTY = 60.0
ENDS = ("finished", "stopped", "error")


class Socket:
    """One socket: what is said is a frame, and so is what is heard."""

    def __init__(self, path: str = "/ws/traces", *, host: str = "testserver", **headers: str):
        sent = {"host": host} | headers
        self._wire = WebsocketCommunicator(
            socket_application,
            path,
            headers=[
                (name.replace("_", "-").encode(), text.encode()) for name, text in sent.items()
            ],
        )

    async def open(self) -> bool:
        is_open, self.code = await self._wire.connect(timeout=PLENTY)
        return is_open

    async def say(self, type: str, *, id: str = "r1", **fields: Any) -> None:
        await self.send(json.dumps({"type": type, "id": id} | fields))

    async def start(self, prompt: str = "The moon is", *, id: str = "r1", **fields: Any) -> None:
        """Ask for a run; a field of the trace's body goes there."""
        own = {name: fields.pop(name) for name in ("forced", "score_prompt", "lab") & fields.keys()}
        await self.say("start", id=id, trace={"prompt": prompt} | fields, **own)

    async def send(self, text: str | bytes) -> None:
        if isinstance(text, bytes):
            await self._wire.send_to(bytes_data=text)
        else:
            await self._wire.send_to(text_data=text)

    async def hear(self) -> dict[str, Any]:
        """The next frame, strictly read."""
        frame: dict[str, Any] = json.loads(
            await self._wire.receive_from(timeout=PLENTY), parse_constant=pytest.fail
        )
        return frame

    async def hear_until(self, *types: str, id: str | None = None) -> list[dict[str, Any]]:
        """All frames up to one of these types, of that run if one is named."""
        frames = [await self.hear()]
        while frames[-1]["type"] not in types or id not in {None, frames[-1]["id"]}:
            frames.append(await self.hear())
        return frames

    async def run(self, *args: str, **fields: Any) -> list[dict[str, Any]]:
        """A whole run's frames."""
        await self.start(*args, **fields)
        return await self.hear_until(*ENDS)

    async def closed(self) -> int:
        """The code with which the server closes; frames that come before are passed over."""
        while (message := await self._wire.receive_output(PLENTY))["type"] == "websocket.send":
            pass
        assert message["type"] == "websocket.close"
        code: int = message["code"]
        return code

    async def leave(self) -> None:
        """Close, if the server did not; what failed in the application is raised here."""
        if not self._wire.future.done():
            await self._wire.disconnect(timeout=PLENTY)
        elif not self._wire.future.cancelled():
            self._wire.future.result()

    def is_silent(self) -> bool:
        """Whether everything that the server said has been heard."""
        return self._wire.output_queue.empty()

    async def stop_server(self) -> None:
        """What daphne does with an application when it stops."""
        self._wire.future.cancel()


def types_of(frames: Sequence[dict[str, Any]]) -> list[str]:
    return [frame["type"] for frame in frames]
