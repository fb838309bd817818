"""From an error to an HTTP answer: each class its status, every answer the same body."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from inference import errors
from inference.storage import as_storage_error
from traceapp.api.dialects import error_body
from traceapp.api.strict_json import NotStrictJson

logger = logging.getLogger(__name__)

STATUS: dict[type[errors.TraceError], int] = {
    errors.InvalidRequest: 422,
    errors.PromptTooLong: 422,
    errors.InvalidReceipt: 422,
    errors.Rejected: 400,
    errors.ContextFull: 400,
    errors.InvalidModelOutput: 400,
    errors.InvalidApiKey: 401,
    errors.OriginNotAllowed: 403,
    errors.SharingOff: 403,
    errors.WrongDeleteToken: 403,
    errors.NotFound: 404,
    errors.ModelNotFound: 404,
    errors.MethodNotAllowed: 405,
    errors.PayloadTooLarge: 413,
    errors.Busy: 429,
    errors.RateLimited: 429,
    errors.ClientDisconnected: 499,  # for our own logs: nobody is there to read it
    errors.InferenceFailed: 500,
    errors.UnsupportedFormat: 501,
    errors.NotReady: 503,
    errors.ShuttingDown: 503,
    errors.StorageUnavailable: 503,
    errors.TimedOut: 504,
}

MAX_PROBLEMS = 10
# pydantic's sentences that speak of Python where the caller knows JSON.
PLAINER = {
    "model_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
    "string_unicode": "holds half of a surrogate pair, which is no character",
}
MAX_NAME = 60  # characters of a caller's own field name that are sent back


def error_response(
    error: errors.TraceError,
    *,
    path: str = "",
    status: int | None = None,
    detail: Sequence[Any] | None = None,
) -> HttpResponse:
    """The answer in the dialect of the request's path; `detail` as in `dialects.error_body`."""
    status = STATUS[type(error)] if status is None else status
    response = HttpResponse(
        json.dumps(error_body(error, path=path, status=status, detail=detail)),
        status=status,
        content_type="application/json",
    )
    if isinstance(error, errors.TryLater):
        response["Retry-After"] = str(error.retry_after_seconds)
    if isinstance(error, errors.InvalidApiKey):
        response["WWW-Authenticate"] = "Bearer"
    return response


def problems_in_words(problems: Sequence[Any]) -> str:
    """pydantic's list of problems as one sentence that names each field and its bound."""
    words = []
    for problem in problems[:MAX_PROBLEMS]:
        name = ".".join(map(str, _path(problem))) or "body"
        words.append(f"{name}: {PLAINER.get(problem['type'], problem['msg'])}")
    if len(problems) > MAX_PROBLEMS:
        words.append(f"and {len(problems) - MAX_PROBLEMS} more")
    return "; ".join(words).encode("utf-8", "replace").decode()


def problems_in_detail(problems: Sequence[Any]) -> list[dict[str, Any]]:
    """pydantic's list of problems as a framework shows it, without the input."""
    return [
        {
            "loc": ["body", *_path(problem)],
            "msg": PLAINER.get(problem["type"], problem["msg"]),
            "type": problem["type"],
        }
        for problem in problems[:MAX_PROBLEMS]
    ]


def _path(problem: Any) -> list[str | int]:
    """Where in the body a problem lies. What is sent back of it must be short and encodable."""
    return [
        part[:MAX_NAME].encode("utf-8", "replace").decode() if isinstance(part, str) else part
        for part in problem["loc"]
        if part not in {"body", "query"}
    ]


def register(api: NinjaAPI) -> None:
    """Give every error under this API its status and the one body."""

    @api.exception_handler(errors.TraceError)
    def on_trace_error(request: HttpRequest, error: errors.TraceError) -> HttpResponse:
        return error_response(error, path=request.path)

    @api.exception_handler(ValidationError)
    def on_validation_error(request: HttpRequest, error: ValidationError) -> HttpResponse:
        paths = [_path(problem) for problem in error.errors]
        return error_response(
            errors.InvalidRequest(
                problems_in_words(error.errors), param=".".join(map(str, paths[0])) or None
            ),
            path=request.path,
            detail=problems_in_detail(error.errors),
        )

    @api.exception_handler(HttpError)
    def on_http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
        # Ninja's one use of this before a view runs: the parser refused the body.
        cause = error.__cause__
        reason = str(cause) if isinstance(cause, NotStrictJson) else error.message
        return error_response(errors.InvalidRequest(f"body: {reason}"), path=request.path)

    @api.exception_handler(RequestDataTooBig)
    def on_too_big(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
        return error_response(
            errors.PayloadTooLarge("the request body is too large"), path=request.path
        )

    @api.exception_handler(Exception)
    def on_anything_else(request: HttpRequest, error: Exception) -> HttpResponse:
        if (away := as_storage_error(error)) is not None:
            return error_response(away, path=request.path)
        # The class alone: a message or a traceback could quote the prompt.
        logger.error("an endpoint failed: %s", type(error).__name__)
        return error_response(
            errors.InferenceFailed("the server failed on this request"), path=request.path
        )
