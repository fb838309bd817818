"""POST /v1/traces."""

from __future__ import annotations

import time
from typing import Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema

from inference import runtime
from inference.models import current_limits
from inference.services import run_trace
from traceapp import rates
from traceapp.sharing.receipts import receipt_for
from traceapp.wire.errors import ErrorBody
from traceapp.wire.traces import TraceAnswer, TraceBody

router = Router(tags=["traces"])


class TraceQuery(Schema):
    include: Literal["analysis"] | None = None


@router.post(
    "/traces",
    response={200: TraceAnswer, (401, 403, 413, 422, 429, 500, 503, 504): ErrorBody},
    exclude_unset=True,
)
async def create_trace(
    request: HttpRequest, body: TraceBody, query: Query[TraceQuery]
) -> HttpResponse:
    """Continue a prompt, and give at each step the probabilities that the model gave.

    The whole trace is returned at the end; nothing is streamed.
    """
    arrived_at = time.monotonic()
    serving = runtime.current()
    limits = await current_limits()
    body.require_model(serving.card.alias)
    await rates.take_turn(request, limits)
    trace = await run_trace(
        body.to_request(limits),
        runtime=serving,
        limits=limits,
        arrived_at=arrived_at,
        caller=rates.caller_of(request),
    )
    with_analysis = query.include == "analysis"
    answer = TraceAnswer.of(trace, with_analysis=with_analysis)
    response = HttpResponse(answer.to_json(), content_type="application/json")
    if with_analysis:  # a trace without it is never shared
        response["X-Trace-Receipt"] = receipt_for(trace, answer)
    return response
