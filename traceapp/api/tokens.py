"""POST /tokenize and /detokenize, GET /tokenizer_info: for tools that count tokens."""

from __future__ import annotations

import asyncio

from django.http import HttpRequest, HttpResponse
from ninja import Router

from inference import runtime
from inference.completions.chat import conversation_ids
from traceapp.api.answers import json_answer
from traceapp.wire.openai.errors import OpenAIErrorBody, WrongShapeBody
from traceapp.wire.openai.tokens import (
    DetokenizeBody,
    Detokenized,
    TokenizeBody,
    TokenizerInfo,
    Tokens,
)

router = Router(tags=["openai"])
REFUSALS = {422: WrongShapeBody, (400, 401, 403, 413, 500, 503): OpenAIErrorBody}


@router.post("/tokenize", response={200: Tokens, **REFUSALS})
async def tokenize(request: HttpRequest, body: TokenizeBody) -> HttpResponse:
    """The tokens of a prompt, or of a conversation up to where the assistant is to speak."""
    serving = runtime.current()
    engine = serving.engine
    body.check()
    if body.prompt is not None:
        token_ids = tuple(await asyncio.to_thread(engine.encode, body.prompt))
    else:
        messages, tools = body.conversation()
        token_ids = await conversation_ids(
            messages, tools=tools, kwargs=body.chat_template_kwargs, serving=serving
        )
    return json_answer(
        Tokens.of(
            token_ids,
            card=serving.card,
            vocabulary=engine.vocabulary,
            with_strings=bool(body.return_token_strs),
        )
    )


@router.post("/detokenize", response={200: Detokenized, **REFUSALS})
async def detokenize(request: HttpRequest, body: DetokenizeBody) -> HttpResponse:
    """The text of tokens, control tokens spelt out."""
    return json_answer(Detokenized.of(body.tokens, runtime.current().engine.vocabulary))


@router.get("/tokenizer_info", response={200: TokenizerInfo, (401, 500, 503): OpenAIErrorBody})
async def tokenizer_info(request: HttpRequest) -> HttpResponse:
    """The tokenizer's special tokens and the model's chat template."""
    serving = runtime.current()
    return json_answer(TokenizerInfo.of(serving.card, serving.engine.vocabulary))
