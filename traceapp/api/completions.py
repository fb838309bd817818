"""POST /v1/completions."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from ninja import Router

from inference.completions.service import complete
from inference.completions.values import Piece, Usage, gather
from inference.engine.vocabulary import Vocabulary
from traceapp.api.answers import json_answer
from traceapp.api.opening import begin
from traceapp.api.sse import EVENTS, event_stream
from traceapp.wire.openai.completions import Completion, CompletionBody
from traceapp.wire.openai.errors import ERRORS
from traceapp.wire.openai.head import Head

router = Router(tags=["openai"])


@router.post("/completions", response={200: Completion, **ERRORS}, openapi_extra=EVENTS)
async def create_completion(
    request: HttpRequest, body: CompletionBody
) -> HttpResponse | StreamingHttpResponse:
    """Continue each prompt. With `stream`, send each piece of text as soon as it is made."""
    begun = await begin(request, body, body.settings, prefix="cmpl")
    asked, head, serving = begun.asked, begun.head, begun.serving
    pieces = await complete(
        body.prompts(),
        asked,
        serving=serving,
        limits=begun.limits,
        arrived_at=begun.arrived_at,
        caller=begun.caller,
    )
    vocabulary = serving.engine.vocabulary if asked.num_candidates is not None else None
    if begun.streams:
        return await event_stream(_chunks(pieces, head, vocabulary))
    choices, usage = await gather(pieces)
    return json_answer(Completion.of(choices, head=head, vocabulary=vocabulary, usage=usage))


async def _chunks(
    pieces: AsyncGenerator[Piece | Usage], head: Head, vocabulary: Vocabulary | None
) -> AsyncGenerator[Completion]:
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, Usage):
                yield Completion.of([], head=head, vocabulary=vocabulary, usage=piece)
            else:
                yield Completion.of([piece], head=head, vocabulary=vocabulary)
