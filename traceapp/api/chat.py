"""POST /v1/chat/completions."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Router

from inference import runtime
from inference.completions.chat import chat
from inference.completions.values import Piece, Usage, gather
from inference.engine.vocabulary import Vocabulary
from inference.models import current_limits
from traceapp import rates
from traceapp.api.answers import json_answer
from traceapp.api.sse import EVENTS, event_stream
from traceapp.wire.openai.chat import ChatBody
from traceapp.wire.openai.chat_answers import ChatChunk, ChatCompletion
from traceapp.wire.openai.errors import ERRORS
from traceapp.wire.openai.head import Head

router = Router(tags=["openai"])


@router.post("/chat/completions", response={200: ChatCompletion, **ERRORS}, openapi_extra=EVENTS)
async def create_chat_completion(
    request: HttpRequest, body: ChatBody
) -> HttpResponse | StreamingHttpResponse:
    """Answer as the assistant. With `stream`, send each part as soon as it is made."""
    arrived_at = time.monotonic()
    serving = runtime.current()
    limits = await current_limits()
    defaults = settings.GENERATE_CONFIG
    body.check_honoured()
    streams = body.streams(defaults)
    asked = body.to_request(defaults)
    await rates.take_turn(request, limits)
    pieces = await chat(asked, serving=serving, limits=limits, arrived_at=arrived_at)
    head = Head.new("chatcmpl", body.model or serving.card.alias)
    with_logprobs = asked.settings.num_candidates is not None
    vocabulary = serving.engine.vocabulary if with_logprobs else None
    if streams:
        return await event_stream(_chunks(pieces, head, vocabulary, may_call=bool(asked.tools)))
    choices, usage = await gather(pieces)
    return json_answer(ChatCompletion.of(choices, head=head, vocabulary=vocabulary, usage=usage))


async def _chunks(
    pieces: AsyncGenerator[Piece | Usage],
    head: Head,
    vocabulary: Vocabulary | None,
    *,
    may_call: bool,
) -> AsyncGenerator[ChatChunk]:
    begun: set[int] = set()
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, Usage):
                yield ChatChunk.last(piece, head=head)
                continue
            is_first = piece.choice not in begun
            begun.add(piece.choice)
            yield ChatChunk.of(
                piece, head=head, vocabulary=vocabulary, is_first=is_first, may_call=may_call
            )
