"""POST /start_profile and POST /stop_profile: there only where the server began with --profile."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from ninja import Router

from inference import runtime
from inference.profiling import Profiler
from traceapp.wire.errors import ErrorBody

router = Router(tags=["profile"])
# Only a server that has the folder imports this module.
profiler = Profiler(Path(settings.PROFILE_OUTPUT or ""))


@router.post("/start_profile", response={200: None, (401, 403, 503): ErrorBody})
async def start_profile(request: HttpRequest) -> HttpResponse:
    """Record what the model does from here on; once more while it records changes nothing."""
    await profiler.start(runtime.current())
    return HttpResponse()


@router.post("/stop_profile", response={200: None, (401, 403, 500, 503): ErrorBody})
async def stop_profile(request: HttpRequest) -> HttpResponse:
    """Write the recording as a Chrome trace file; where there is none, do nothing."""
    await profiler.stop(runtime.current())
    return HttpResponse()
