"""GET /health and GET /v1/models."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router, Status

from inference import runtime
from inference.errors import NotReady
from traceapp.wire.errors import ErrorBody
from traceapp.wire.models import Health, ModelEntry, ModelList

router = Router(tags=["model"])


@router.api_operation(["GET", "HEAD"], "/health", response={200: Health, 503: Health})
async def health(request: HttpRequest) -> Status[Health]:
    """Whether a trace would be served now: 200 and ready, or 503 and not_ready."""
    ready = _is_ready()
    return Status(200 if ready else 503, Health.of(ready=ready))


@router.api_operation(["GET", "HEAD"], "/v1/models", response={200: ModelList, 503: ErrorBody})
async def list_models(request: HttpRequest) -> ModelList:
    """The one model that is served, and what its weights really are."""
    entry = ModelEntry.of(runtime.current().card, ready=_is_ready())
    return ModelList(data=[entry], models=[entry])


def _is_ready() -> bool:
    try:
        return runtime.current().is_ready()
    except NotReady:
        return False
