"""POST /v1/chat/completions."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Router

from inference.completions.chat import chat
from inference.completions.values import Piece, Usage, gather
from inference.engine.vocabulary import Vocabulary
from traceapp.api.answers import json_answer
from traceapp.api.opening import begin
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
    begun = await begin(request, body, body.to_request, prefix="chatcmpl")
    asked, head, serving = begun.asked, begun.head, begun.serving
    pieces = await chat(
        asked,
        serving=serving,
        limits=begun.limits,
        arrived_at=begun.arrived_at,
        caller=begun.caller,
    )
    with_logprobs = asked.settings.num_candidates is not None
    vocabulary = serving.engine.vocabulary if with_logprobs else None
    if begun.streams:
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
