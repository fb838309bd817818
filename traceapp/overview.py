"""The administrator's overview: what this process does, and did in the last hour. No prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import admin
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe

from inference import runtime
from inference.errors import NotReady
from inference.recent import RECENT, Minute

HEIGHT = 48  # of a chart, in units of its drawing
STEP = 5  # of a minute


@dataclass(frozen=True, slots=True)
class Bar:
    x: int
    y: float
    height: float
    said: str  # beside the pointer


@dataclass(frozen=True, slots=True)
class Chart:
    """One bar a minute, the tallest as high as the chart."""

    title: str
    summary: str
    bars: tuple[Bar, ...]
    width: int
    height: int = HEIGHT


def chart(title: str, summary: str, values: Sequence[float], *, unit: str) -> Chart:
    """Bars from 0 to the largest value; a minute without any has none."""
    most = max(values, default=0) or 1
    last = len(values) - 1
    bars = [
        Bar(
            x=STEP * place,
            height=round(HEIGHT * value / most, 2),
            y=round(HEIGHT - HEIGHT * value / most, 2),
            said=f"{last - place} min ago: {value:g} {unit}",
        )
        for place, value in enumerate(values)
        if value
    ]
    return Chart(title=title, summary=summary, bars=tuple(bars), width=STEP * len(values))


def charts_of(minutes: Sequence[Minute]) -> list[Chart]:
    """The hour's requests, refusals and times."""
    ended, failed = (sum(getattr(m, name) for m in minutes) for name in ("ended", "failed"))
    refused = sum(minute.refused for minute in minutes)
    times = [round(minute.median_seconds or 0, 3) for minute in minutes]
    slowest = max(times, default=0)
    return [
        chart(
            "Requests",
            f"{ended} ended in the last hour, {failed} of them failed.",
            [minute.ended for minute in minutes],
            unit="ended",
        ),
        chart(
            "Refusals",
            f"{refused} refused in the last hour, as busy or by a rate.",
            [minute.refused for minute in minutes],
            unit="refused",
        ),
        chart(
            "Time of a request",
            f"At most {slowest:g} s, as the median of a minute; waiting included."
            if slowest
            else "Nothing has finished in the last hour.",
            times,
            unit="s",
        ),
    ]


@require_safe
def overview(request: HttpRequest) -> TemplateResponse:
    """The page; `urls` lets in whoever may enter the admin site."""
    try:
        serving = runtime.current()
    except NotReady:
        model, ready, (running, waiting) = None, False, (0, 0)
    else:
        model, ready, (running, waiting) = serving.card, serving.is_ready(), serving.in_flight()
    context = {
        **admin.site.each_context(request),
        "title": "Overview",
        "model": model,
        "ready": ready,
        "running": running,
        "waiting": waiting,
        "charts": charts_of(RECENT.minutes()),
    }
    return TemplateResponse(request, "admin/overview.html", context)
