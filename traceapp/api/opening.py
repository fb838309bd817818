"""How both generation endpoints begin, up to the point where they differ: the verb they call."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.conf import settings
from django.http import HttpRequest

from inference import runtime
from inference.generate_config import GenerateConfig
from inference.limits import Limits
from inference.line import Caller
from inference.models import current_limits
from inference.runtime import Runtime
from traceapp import rates
from traceapp.wire.openai.generation import GenerationBody
from traceapp.wire.openai.head import Head

Asked = TypeVar("Asked")


@dataclass(frozen=True, slots=True)
class Opening(Generic[Asked]):
    """A request that may be run: what it asks for, and on which terms."""

    asked: Asked
    streams: bool
    head: Head
    serving: Runtime
    limits: Limits
    caller: Caller
    arrived_at: float  # monotonic seconds


async def begin(
    request: HttpRequest,
    body: GenerationBody,
    read: Callable[[GenerateConfig], Asked],
    *,
    prefix: str,
) -> Opening[Asked]:
    """Check what can be checked of a body, then count the request against its client.

    `read` gives what is asked for under the server's defaults; `prefix` begins the answer's id.
    Raises NotReady, Rejected or RateLimited.
    """
    arrived_at = time.monotonic()
    serving = runtime.current()
    limits = await current_limits()
    defaults = settings.GENERATE_CONFIG
    body.check_honoured()
    streams = body.streams(defaults)
    asked = read(defaults)
    await rates.take_turn(request, limits)
    return Opening(
        asked=asked,
        streams=streams,
        head=Head.new(prefix, body.model or serving.card.served_name),
        serving=serving,
        limits=limits,
        caller=rates.caller_of(request),
        arrived_at=arrived_at,
    )
