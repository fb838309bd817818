"""GET /metrics and GET /metrics/json: the same numbers, for machines."""

from __future__ import annotations

import time
import uuid

from django.http import HttpRequest, HttpResponse
from ninja import Router
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from inference import metrics, runtime
from inference.errors import NotReady
from traceapp.wire.metrics import MetricsAnswer

router = Router(tags=["observation"])

SERVER_ID = uuid.uuid4().hex  # of this process, so that a restart shows
STARTED_AT = time.time()


@router.get("/metrics", openapi_extra={"responses": {200: {"content": {"text/plain": {}}}}})
async def show_metrics(request: HttpRequest) -> HttpResponse:
    """The numbers in the exposition format of Prometheus."""
    return HttpResponse(metrics.as_text(), content_type=CONTENT_TYPE_PLAIN_0_0_4)


@router.get("/metrics/json", response=MetricsAnswer)
async def show_metrics_as_json(request: HttpRequest) -> MetricsAnswer:
    """The same numbers as JSON."""
    return MetricsAnswer(
        server_id=SERVER_ID,
        started_at=STARTED_AT,
        timestamp=time.time(),
        model_name=_served_name(),
        **metrics.as_values(),
    )


def _served_name() -> str | None:
    try:
        return runtime.current().card.served_name
    except NotReady:
        return None
