"""Server-sent events as OpenAI sends them: data: …, at the end [DONE]."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from django.http import StreamingHttpResponse
from pydantic import BaseModel

from inference.errors import InferenceFailed, TraceError
from traceapp.api.dialects import openai_error
from traceapp.api.errors import STATUS

logger = logging.getLogger(__name__)

DONE = b"data: [DONE]\n\n"
# For the OpenAPI document.
EVENTS = {
    "responses": {
        200: {
            "content": {
                "text/event-stream": {
                    "schema": {"type": "string", "description": "Chunks, where `stream` is true."}
                }
            }
        }
    }
}
HEADERS = {
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",  # nginx would collect events
}


async def event_stream(chunks: AsyncGenerator[BaseModel]) -> StreamingHttpResponse:
    """Send each chunk as it comes, then [DONE]; an error stands in the place of what it kept off.

    Returns when the first chunk is there: what goes wrong before it is raised, and has a status.
    """
    first = await anext(chunks)

    async def body() -> AsyncIterator[bytes]:
        async with aclosing(chunks):  # a client that leaves frees the model at its next step
            yield _event(first)
            try:
                async for chunk in chunks:
                    yield _event(chunk)
            except Exception as error:
                yield _error_event(error)
        yield DONE

    return StreamingHttpResponse(body(), content_type="text/event-stream", headers=HEADERS)


def _event(chunk: BaseModel) -> bytes:
    return b"data: " + chunk.model_dump_json().encode() + b"\n\n"


def _error_event(error: Exception) -> bytes:
    if not isinstance(error, TraceError):
        # The class alone: a message or a traceback could quote the prompt.
        logger.error("a stream failed: %s", type(error).__name__)
        error = InferenceFailed("the server failed on this request")
    fields = openai_error(error, status=STATUS[type(error)], in_stream=True)
    return b"data: " + json.dumps({"error": fields}).encode() + b"\n\n"
