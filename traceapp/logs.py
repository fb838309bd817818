"""How log lines are written: never with what a visitor typed."""

from __future__ import annotations

import logging
import traceback
from types import TracebackType


class DiscreetFormatter(logging.Formatter):
    """Tracebacks without the exceptions' messages, which may quote a prompt or a completion."""

    def format(self, record: logging.LogRecord) -> str:
        record.exc_text = None  # what another formatter kept there has the message in it
        return super().format(record)

    def formatException(  # noqa: N802 - logging's name
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        kind, _, trace = ei
        if kind is None:
            return ""
        return "".join([*traceback.format_tb(trace), kind.__name__])
