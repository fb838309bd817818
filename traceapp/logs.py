"""
How log records are written: one line each, and never with what a visitor typed.

As text, or as JSON where `TRACEAPP_LOG_FORMAT` says so. What belongs to one request carries its id.
"""

from __future__ import annotations

import logging
import traceback
from types import TracebackType
from typing import Any

from structlog.contextvars import get_contextvars
from structlog.processors import JSONRenderer

_as_json = JSONRenderer()


class DiscreetFormatter(logging.Formatter):
    """Tracebacks without the exceptions' messages, which may quote a prompt or a completion.

    Whatever a record holds, it is one line: control characters are escaped.
    """

    def __init__(self, *args: Any, as_json: bool = False, **options: Any) -> None:
        super().__init__(*args, **options)
        self._writes_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        record.exc_text = None  # what another formatter kept there has the message in it
        if self._writes_json:
            return str(_as_json(None, "", self._fields(record)))
        context = "".join(f" {name}={value}" for name, value in get_contextvars().items())
        return _one_line(super().format(record) + context)

    def formatException(  # noqa: N802 - logging's name
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        kind, _, trace = ei
        if kind is None:
            return ""
        return "".join([*traceback.format_tb(trace), kind.__name__])

    def _fields(self, record: logging.LogRecord) -> dict[str, Any]:
        fields = {
            "time": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        } | get_contextvars()
        failure = self.formatException(record.exc_info) if record.exc_info else ""
        return fields | ({"exception": failure} if failure else {})


def _one_line(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in text
    )
