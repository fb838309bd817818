"""The pages: one async view each, and one dataclass that names everything its template gets."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field, fields
from functools import partial

from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.template.loader import render_to_string
from django.urls import reverse
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
from traceapp.framing import allow_frames, oembed_address
from traceapp.themes import theme_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Why there is no trace. The message is empty where a field of the form has it."""

    status: int
    message: str = ""
    retry_after_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HomePage:
    """All that `home.html` and `embed.html` are given."""

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
    theme: str = field(
        metadata={"help": "For a frame: light, dark, or auto, what the visitor's system has."}
    )
    url: str = field(metadata={"help": "The first page's own address, for links out of a frame."})
    oembed_url: str = field(metadata={"help": "Where oEmbed's answer about the frame is."})
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
    return await _answer(request, "home.html")


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
async def embed(request: HttpRequest) -> HttpResponse:
    """The same, compact, for a frame in somebody's page."""
    response = await _answer(request, "embed.html")
    allow_frames(response, await current_limits())
    return response


async def _answer(request: HttpRequest, template: str) -> HttpResponse:
    arrived_at = time.monotonic()
    limits = await current_limits()
    page = partial(
        _home,
        limits=limits,
        template=template,
        theme=theme_of(request),
        url=request.build_absolute_uri(reverse("home")),
        oembed_url=oembed_address(request, reverse("embed")),
    )
    if request.method != "POST":
        return page(TraceForm.of({}, limits))
    try:
        sent = request.POST.dict()
    except (MultiPartParserError, SuspiciousOperation):  # broken, or of too many fields or files
        problem = Problem(status=400, message="What was sent is not this page's form.")
        return page(TraceForm.of({}, limits), problem=problem)
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
        return page(form.refused(error), problem=Problem(status=STATUS[InvalidRequest]))
    except TraceError as error:
        form = form.at_fault(error.param, error.message)
        return page(form, problem=_problem(error, said_at_field=bool(form.faults)))
    return page(form, drawn=drawn_trace(trace))


def _home(
    form: TraceForm,
    *,
    limits: Limits,
    template: str,
    theme: str,
    url: str,
    oembed_url: str,
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
        theme=theme,
        url=url,
        oembed_url=oembed_url,
        problem=problem,
        drawn=drawn,
    )
    # Without the request: no context processor adds to what the dataclass names.
    context = {each.name: getattr(page, each.name) for each in fields(page)}
    response = HttpResponse(
        render_to_string(template, context), status=problem.status if problem else 200
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
