"""
Everything that can go wrong, by name.

* TraceError
  x InvalidRequest         the caller asked for something that cannot be
    + PromptTooLong        the prompt has more tokens than the limit in force
    + InvalidReceipt       a trace to share is not one that this server made
  x Rejected               a well-formed OpenAI request for what this model cannot do
    + ContextFull          the prompt leaves no room in the model's context
  x InvalidModelOutput     the model's text is not the tool call that it began
  x InvalidApiKey          an API key is needed, or the one that was sent does not hold
  x OriginNotAllowed       a page of a foreign site sent the request
  x SharingOff             nobody may share traces here
  x WrongDeleteToken       the token is not that of the trace to be removed
  x NotFound               nothing has that address
    + ModelNotFound        no model of that name is served
  x UnsupportedFormat      the answer was asked for in a format that there is not
  x MethodNotAllowed       the address exists, but not for that method
  x PayloadTooLarge        the body is larger than its endpoint takes
  x TryLater               the same request may succeed later
    + Busy                 every place to wait is taken
    + RateLimited          this client sent too many requests in the last minute
  x NotReady               no model is loaded in this process yet
    + ShuttingDown         this process is ending, and takes no new work
    + StorageUnavailable   the database does not answer, or cannot be written to
  x TimedOut               the deadline passed, waiting included
  x ClientDisconnected     the caller left before the answer
  x InferenceFailed        the model failed while it ran

These classes know no transport: `traceapp.api.errors` gives each its HTTP status, and a
test holds that table complete.
"""

from __future__ import annotations

from typing import ClassVar


class TraceError(Exception):
    """Base of every error that this project raises on purpose.

    `param` names the request field at fault, when there is one.
    """

    code: ClassVar[str]

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param


class InvalidRequest(TraceError):
    code = "invalid_request"


class PromptTooLong(InvalidRequest):
    code = "prompt_too_long"


class InvalidReceipt(InvalidRequest):
    code = "invalid_receipt"


class Rejected(TraceError):
    """A request of the OpenAI endpoints that has the right shape and yet cannot be served."""

    code = "rejected"


class ContextFull(Rejected):
    code = "context_length_exceeded"  # OpenAI's own name for it


class InvalidModelOutput(TraceError):
    code = "invalid_model_output"


class InvalidApiKey(TraceError):
    code = "invalid_api_key"  # OpenAI's own name for it


class OriginNotAllowed(TraceError):
    code = "origin_not_allowed"


class SharingOff(TraceError):
    code = "sharing_off"


class WrongDeleteToken(TraceError):
    code = "wrong_delete_token"


class NotFound(TraceError):
    code = "not_found"


class ModelNotFound(NotFound):
    code = "model_not_found"  # OpenAI's own name for it


class UnsupportedFormat(TraceError):
    code = "unsupported_format"


class MethodNotAllowed(TraceError):
    code = "method_not_allowed"


class PayloadTooLarge(TraceError):
    code = "payload_too_large"


class TryLater(TraceError):
    """Base of the refusals that pass: `retry_after_seconds` says when to come back."""

    def __init__(self, message: str, *, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class Busy(TryLater):
    code = "busy"


class RateLimited(TryLater):
    code = "rate_limited"


class NotReady(TraceError):
    code = "not_ready"


class ShuttingDown(NotReady, TryLater):
    """Both: no model for this request here, and another process that may soon have one."""

    code = "shutting_down"


class StorageUnavailable(TryLater):
    code = "storage_unavailable"


class TimedOut(TraceError):
    code = "timeout"


class ClientDisconnected(TraceError):
    code = "client_disconnected"


class InferenceFailed(TraceError):
    code = "inference_failed"
