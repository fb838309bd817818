"""The page for a big screen: prompts to touch, and a trace that plays itself."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, fields
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from inference import runtime
from inference.engine.types import ModelCard
from inference.errors import NotReady
from inference.limits import Limits
from inference.models import current_limits
from traceapp.booth.prompts import BoothPrompt
from traceapp.booth.recordings import Prepared, prepared_for, prompts_with
from traceapp.themes import theme_of
from traceapp.wire.recordings import Recording

# A sentence: what is longer does not fit the screen in type that is read from afar.
MAX_TYPED = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class BoothPage:
    """All that `booth.html` is given."""

    prompts: tuple[BoothPrompt, ...] = field(
        metadata={"help": "The prompts, each a button that traces it."}
    )
    for_script: dict[str, Any] = field(
        metadata={"help": "The model, the prompts and the recordings, for booth/page.ts."}
    )
    theme: str = field(metadata={"help": "light, dark, or auto: what the screen's system has."})


@require_safe
async def booth(request: HttpRequest) -> HttpResponse:
    """The booth. All that it may have to show without the server goes along with the page."""
    limits = await current_limits()
    try:
        card = runtime.current().card
    except NotReady:
        card = None
    prepared = await asyncio.to_thread(prepared_for, card, data_dir=settings.TRACEAPP.data_dir)
    prompts = prompts_with(prepared)
    page = BoothPage(
        prompts=prompts,
        for_script=_for_script(card, limits, prompts, prepared),
        theme=theme_of(request),
    )
    # Without the request: no context processor adds to what the dataclass names.
    context = {each.name: getattr(page, each.name) for each in fields(page)}
    return HttpResponse(render_to_string("booth.html", context))


def _for_script(
    card: ModelCard | None,
    limits: Limits,
    prompts: tuple[BoothPrompt, ...],
    prepared: Prepared,
) -> dict[str, Any]:
    return {
        "model": card and {"alias": card.alias, "revision": card.revision},
        "typed": _typed(limits) if limits.booth_free_text else None,
        "prompts": [
            {
                "slug": each.slug,
                "prompt": each.prompt,
                "look_for": each.look_for,
                "settings": each.settings(limits),
            }
            for each in prompts
        ],
        "recordings": [_recording(each) for each in prepared.recordings],
        "of_served_model": prepared.of_served_model,
    }


def _typed(limits: Limits) -> dict[str, Any]:
    """What a visitor's own prompt may be, and how it is traced."""
    return {
        "characters": min(MAX_TYPED, limits.max_prompt_characters),
        "settings": BoothPrompt(slug="typed", prompt="").settings(limits),
    }


def _recording(recording: Recording) -> dict[str, Any]:
    """What is shown of a recording: the trace, and when it was made."""
    trace = recording.trace.model_dump(
        mode="json", include={"model", "prompt", "steps", "finish_reason"}
    )
    return {"slug": recording.slug, "made_at": recording.provenance.made_at, "trace": trace}
