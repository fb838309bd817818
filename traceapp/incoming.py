"""
What a client sends over a socket: read strictly, and counted.

A frame that is not what it should be is answered; a client that sends nothing else, or more than
anybody could need, is shown out.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from inference.errors import InvalidRequest
from traceapp.api.errors import problems_in_words
from traceapp.api.strict_json import NotStrictJson, loads
from traceapp.wire.live import CLIENT_FRAME, MAX_ID, ClientFrame, ErrorFrame

BINARY = 1003
NOT_JSON = 1007
POLICY = 1008

# A page sends a frame a keystroke at most; nobody types fifty a second.
MAX_FRAMES_A_SECOND = 50
MAX_BAD_FRAMES = 10  # with no good one between them


class CloseSocket(Exception):
    """The client is not to be listened to any more."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class BadFrame(Exception):
    """One frame is not what it should be; `answer` says so."""

    def __init__(self, answer: ErrorFrame) -> None:
        super().__init__(answer.message)
        self.answer = answer


class Incoming:
    """The reader of one socket's frames."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._arrivals: deque[float] = deque(maxlen=MAX_FRAMES_A_SECOND)
        self._bad_frames = 0

    def read(self, text: str | None) -> ClientFrame:
        """The frame that a message holds; None is a binary one. Raises CloseSocket or BadFrame."""
        now = self._clock()
        if len(self._arrivals) == MAX_FRAMES_A_SECOND and now - self._arrivals[0] < 1:
            raise CloseSocket(POLICY, f"more than {MAX_FRAMES_A_SECOND} frames in a second")
        self._arrivals.append(now)
        if text is None:
            raise CloseSocket(BINARY, "frames are JSON text")
        try:
            value = loads(text.encode())
        except NotStrictJson as error:
            raise CloseSocket(NOT_JSON, str(error)) from None
        try:
            frame = CLIENT_FRAME.validate_python(value)
        except ValidationError as error:
            self._bad_frames += 1
            if self._bad_frames == MAX_BAD_FRAMES:
                raise CloseSocket(POLICY, f"{MAX_BAD_FRAMES} frames that are not valid") from None
            raise BadFrame(_answer_to(value, error.errors())) from None
        self._bad_frames = 0
        return frame


def _answer_to(value: Any, problems: Sequence[Any]) -> ErrorFrame:
    """The error that names each wrong field as the API does: `top_k`, not `start.trace.top_k`."""
    named = [_as_the_api_says(problem) for problem in problems]
    first = named[0]["loc"]
    error = InvalidRequest(problems_in_words(named), param=str(first[0]) if first else None)
    return ErrorFrame.of(error, id=_id_of(value))


def _as_the_api_says(problem: Any) -> dict[str, Any]:
    if problem["type"] in {"union_tag_not_found", "union_tag_invalid"}:
        return {**problem, "loc": ("type",), "msg": "must be start, stop, count or find"}
    path = problem["loc"][1:]  # without the frame's type
    return {**problem, "loc": tuple(part for part in path if part != "trace") or path}


def _id_of(value: Any) -> str | None:
    """The frame's own id, where at least that is as it should be."""
    if not isinstance(value, dict):
        return None
    found = value.get("id")
    if not isinstance(found, str) or not 0 < len(found) <= MAX_ID:
        return None
    return found if found.isprintable() else None
