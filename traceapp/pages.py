"""The pages: one async view each, and one dataclass that names everything its template gets."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, fields

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.template.loader import render_to_string
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods
from pydantic import ValidationError

from inference import runtime
from inference.engine.types import ModelCard
from inference.errors import InvalidRequest, NotReady, TraceError, TryLater
from inference.limits import Limits
from inference.models import current_limits
from inference.services import run_trace
from traceapp import rates
from traceapp.api.errors import STATUS
from traceapp.drawing import DrawnTrace, drawn_trace
from traceapp.examples import BY_SLUG, EXAMPLES, Example
from traceapp.form import TraceForm


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why there is no trace. The message is empty where a field of the form has it."""

    status: int
    message: str = ""
    retry_after_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePage:
    """All that `home.html` is given."""

    form: TraceForm = field(metadata={"help": "The form, with what was typed and its faults."})
    examples: tuple[Example, ...] = field(
        default=EXAMPLES, metadata={"help": "Prompts to try, each a button that traces it."}
    )
    model: ModelCard | None = field(
        metadata={"help": "The model that this process serves; None if it serves none."}
    )
    limits: Limits = field(metadata={"help": "What may be asked for now, said below the form."})
    ready: bool = field(metadata={"help": "Whether that model is loaded and would answer now."})
    for_script: dict[str, object] = field(
        metadata={"help": "The form, the examples and the model, for frontend/src/page.ts."}
    )
    problem: Problem | None = field(
        default=None, metadata={"help": "Why the last request was not traced, if it was not."}
    )
    drawn: DrawnTrace | None = field(
        default=None, metadata={"help": "The trace that was asked for, if one was."}
    )


# Exempt, for a trace changes nothing and the page is to set no cookie; POSTs that other sites'
# pages send are refused by `middleware.origins`.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
async def home(request: HttpRequest) -> HttpResponse:
    """The first page: the form and, once it is sent, the trace. The prompt is in no URL."""
    arrived_at = time.monotonic()
    limits = await current_limits()
    if request.method != "POST":
        return _home(TraceForm.of({}, limits), limits)
    try:
        sent = request.POST.dict()
    except (MultiPartParserError, SuspiciousOperation):  # broken, or of too many fields or files
        problem = Problem(status=400, message="What was sent is not this page's form.")
        return _home(TraceForm.of({}, limits), limits, problem=problem)
    example = BY_SLUG.get(sent.get("example", ""))
    form = TraceForm.of(example.typed if example else sent, limits)
    try:
        asked = form.to_request(limits)
        serving = runtime.current()
        await rates.take_turn(request, limits)
        trace = await run_trace(
            asked,
            runtime=serving,
            limits=limits,
            arrived_at=arrived_at,
            caller=rates.caller_of(request),
        )
    except ValidationError as error:
        return _home(form.refused(error), limits, problem=Problem(status=STATUS[InvalidRequest]))
    except TraceError as error:
        form = form.at_fault(error.param, error.message)
        return _home(form, limits, problem=_problem(error, said_at_field=bool(form.faults)))
    return _home(form, limits, drawn=drawn_trace(trace))


def _home(
    form: TraceForm,
    limits: Limits,
    *,
    problem: Problem | None = None,
    drawn: DrawnTrace | None = None,
) -> HttpResponse:
    try:
        model, ready = runtime.current().card, runtime.current().is_ready()
    except NotReady:
        model, ready = None, False
    page = HomePage(
        form=form,
        limits=limits,
        model=model,
        ready=ready,
        for_script={
            "fields": [asdict(each) for each in form.fields],
            "examples": [asdict(each) for each in EXAMPLES],
            "model": model and {"alias": model.alias, "repository": model.repository},
            "ready": ready,
        },
        problem=problem,
        drawn=drawn,
    )
    # Without the request: no context processor adds to what the dataclass names.
    context = {each.name: getattr(page, each.name) for each in fields(page)}
    response = HttpResponse(
        render_to_string("home.html", context), status=problem.status if problem else 200
    )
    if problem and problem.retry_after_seconds is not None:
        response["Retry-After"] = str(problem.retry_after_seconds)
    return response


def _problem(error: TraceError, *, said_at_field: bool) -> Problem:
    return Problem(
        status=STATUS[type(error)],
        message="" if said_at_field else error.message,
        retry_after_seconds=error.retry_after_seconds if isinstance(error, TryLater) else None,
    )
