"""GET /health, /v1/models and /v1/limits: what is served, and on which terms."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router, Status

from inference import runtime
from inference.errors import ModelNotFound, NotReady
from inference.models import current_limits
from traceapp.wire.errors import ErrorBody
from traceapp.wire.models import Health, LimitsAnswer, ModelEntry, ModelList
from traceapp.wire.openai.errors import OpenAIErrorBody

router = Router(tags=["model"])


@router.api_operation(["HEAD"], "/health", include_in_schema=False)
@router.get("/health", response={200: Health, 503: Health})
async def health(request: HttpRequest) -> Status[Health]:
    """Whether a trace would be served now: 200 and ready, or 503 and not_ready."""
    ready = _is_ready()
    return Status(200 if ready else 503, Health.of(ready=ready))


@router.api_operation(["HEAD"], "/v1/models", include_in_schema=False)
@router.get("/v1/models", response={200: ModelList, (401, 503): ErrorBody})
async def list_models(request: HttpRequest) -> ModelList:
    """The one model that is served, and what its weights really are."""
    entry = _entry()
    return ModelList(data=[entry], models=[entry])


@router.api_operation(["HEAD"], "/v1/models/{model_id}", include_in_schema=False)
@router.get("/v1/models/{model_id}", response={200: ModelEntry, (401, 404, 503): OpenAIErrorBody})
async def show_model(request: HttpRequest, model_id: str) -> ModelEntry:
    """One model of the list: the served one, or none."""
    entry = _entry()
    if model_id != entry.id:
        raise ModelNotFound(f"this server serves {entry.id} and nothing else", param="model")
    return entry


@router.api_operation(["HEAD"], "/v1/limits", include_in_schema=False)
@router.get("/v1/limits", response={200: LimitsAnswer, (500, 503): ErrorBody})
async def show_limits(request: HttpRequest) -> LimitsAnswer:
    """The limits in force: what an administrator has set, or the server's own."""
    return LimitsAnswer.of(await current_limits())


def _entry() -> ModelEntry:
    return ModelEntry.of(runtime.current().card, ready=_is_ready())


def _is_ready() -> bool:
    try:
        return runtime.current().is_ready()
    except NotReady:
        return False
