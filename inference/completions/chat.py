"""
The verb of chat: from messages to a prompt by the model's own template, then as any completion.

What a model's answer means beyond its text (thoughts, calls) the catalogue says by alias.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from inference.chat.controls import template_kwargs
from inference.chat.messages import check_history, check_tools, uses_tools
from inference.chat.parsing import AssistantParser, Calls
from inference.completions.reading import Reader
from inference.completions.service import complete
from inference.completions.settings import ChatRequest
from inference.completions.values import Piece, Usage
from inference.errors import Rejected
from inference.limits import Limits
from inference.runtime import Runtime


async def chat(
    request: ChatRequest, *, serving: Runtime, limits: Limits, arrived_at: float
) -> AsyncGenerator[Piece | Usage]:
    """Check everything, and return the pieces to come, as `service.complete` does."""
    chat_model = serving.chat_model
    if chat_model is None:
        raise Rejected(f"{serving.card.alias} has no chat template: it cannot chat")
    model = chat_model.model
    check_history(request.messages)
    check_tools(request.tools, request.tool_choice)
    if model.tool_parser is None and uses_tools(request.messages, request.tools):
        raise Rejected(f"{model.alias} cannot call tools", param="tools")
    kwargs = template_kwargs(
        model, reasoning_effort=request.reasoning_effort, given=request.template_kwargs
    )
    prompt_ids = await asyncio.to_thread(
        chat_model.template.prompt_ids, request.messages, tools=request.tools, kwargs=kwargs
    )
    return await complete(
        [prompt_ids],
        request.settings,
        serving=serving,
        limits=limits,
        arrived_at=arrived_at,
        new_reader=lambda: Reader(
            request.settings.stop,
            AssistantParser(
                reasons=model.reasoning_parser == "think",
                thinking=kwargs.get("enable_thinking", True),
                calls=_calls(request),
            ),
            hides_reasoning=not request.include_reasoning,
        ),
    )


def _calls(request: ChatRequest) -> Calls:
    if not request.tools:
        return "ignored"
    if request.tool_choice.mode == "none":
        return "hidden"
    return "all" if request.parallel_tool_calls else "first"
