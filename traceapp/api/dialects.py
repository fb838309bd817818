"""
The bodies of errors: the contract's for traces, OpenAI's where its clients read them.

A client of OpenAI's reads `error`; the contract of these endpoints has `object` and `message` as
well, and for a body of the wrong shape the `detail` that the framework would have given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inference import errors
from traceapp.paths import speaks_openai


def error_body(
    error: errors.TraceError, *, path: str, status: int, detail: Sequence[Any] | None = None
) -> dict[str, Any]:
    """The body of an error answer; `detail` is the list of what is wrong with a body's shape."""
    if not speaks_openai(path):
        return {"error": {"code": error.code, "message": error.message}}
    fields = openai_error(error, status=status)
    if status == 422:
        problem = {"loc": ["body", *_path(error.param)], "msg": error.message, "type": error.code}
        return {"detail": [problem] if detail is None else list(detail), "error": fields}
    return {"object": "error", "message": error.message, "error": fields}


def openai_error(
    error: errors.TraceError, *, status: int, in_stream: bool = False
) -> dict[str, Any]:
    """OpenAI's four fields. In a stream `code` is the status that came too late, a number."""
    kind = error.code if isinstance(error, errors.InvalidModelOutput) else _kind(status)
    return {
        "message": error.message,
        "type": kind,
        "param": error.param,
        "code": status if in_stream else error.code,
    }


def _kind(status: int) -> str:
    match status:
        case 401:
            return "authentication_error"
        case 403:
            return "permission_error"
        case 429:
            return "rate_limit_error"
    return "invalid_request_error" if status < 500 else "server_error"


def _path(param: str | None) -> list[str]:
    return param.split(".") if param else []
