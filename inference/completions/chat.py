"""
The verb of chat: from messages to a prompt by the model's own template, then as any completion.

What a model's answer means beyond its text (thoughts, calls) the catalogue says by alias.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import Any

from inference.chat.controls import template_kwargs
from inference.chat.grammar import grammar
from inference.chat.messages import check_history, check_tools, uses_tools
from inference.chat.model import ChatModel
from inference.chat.parsing import AssistantParser, Calls
from inference.completions.reading import Reader
from inference.completions.service import complete
from inference.completions.settings import ChatRequest
from inference.completions.values import Piece, Usage
from inference.engine.types import Constraint
from inference.errors import Rejected, TimedOut
from inference.limits import Limits
from inference.runtime import Runtime


async def chat(
    request: ChatRequest, *, serving: Runtime, limits: Limits, arrived_at: float
) -> AsyncGenerator[Piece | Usage]:
    """Check everything, and return the pieces to come, as `service.complete` does."""
    _ = serving.engine  # which says so where the model is not loaded yet
    chat_model = serving.chat_model
    if chat_model is None:
        raise Rejected(f"{serving.card.alias} has no chat template: it cannot chat")
    kwargs = _checked(request, chat_model)
    reasons = chat_model.model.reasoning_parser == "think"
    thinking = reasons and kwargs.get("enable_thinking", True)
    deadline = arrived_at + limits.deadline_seconds
    constraint = await _constraint(request, chat_model, thinking=thinking, deadline=deadline)
    prompt_ids = await asyncio.to_thread(
        chat_model.template.prompt_ids, request.messages, tools=request.tools, kwargs=kwargs
    )

    def new_reader() -> Reader:
        parser = AssistantParser(reasons=reasons, thinking=thinking, calls=_calls(request))
        return Reader(request.settings.stop, parser, hides_reasoning=not request.include_reasoning)

    return await complete(
        [prompt_ids],
        replace(request.settings, constraint=constraint),
        serving=serving,
        limits=limits,
        arrived_at=arrived_at,
        new_reader=new_reader,
    )


def _checked(request: ChatRequest, chat_model: ChatModel) -> dict[str, Any]:
    """The template's variables, once all else was found possible. Raises Rejected."""
    model = chat_model.model
    check_history(request.messages)
    check_tools(request.tools, request.tool_choice)
    if model.tool_parser is None and uses_tools(request.messages, request.tools):
        raise Rejected(f"{model.alias} cannot call tools", param="tools")
    return template_kwargs(
        model, reasoning_effort=request.reasoning_effort, given=request.template_kwargs
    )


async def _constraint(
    request: ChatRequest, chat_model: ChatModel, *, thinking: bool, deadline: float
) -> Callable[[], Constraint] | None:
    """What holds the answer to a schema, or to a call. Raises Rejected or TimedOut."""
    asked = grammar(
        tools=request.tools,
        choice=request.tool_choice,
        parallel=request.parallel_tool_calls,
        response_schema=request.response_schema,
        reasons=thinking,
    )
    if asked is None:
        return None
    if request.settings.min_tokens:
        raise Rejected(
            f"min_tokens: not together with {asked.param}, which says where the answer ends",
            param="min_tokens",
        )
    compiled = asyncio.get_running_loop().run_in_executor(
        chat_model.compiling, chat_model.grammars.constraint, asked
    )
    try:
        return await asyncio.wait_for(compiled, max(deadline - time.monotonic(), 0))
    except TimeoutError:
        raise TimedOut("the deadline passed before the schema was read") from None


def _calls(request: ChatRequest) -> Calls:
    if not request.tools:
        return "ignored"
    if request.tool_choice.mode == "none":
        return "hidden"
    return "all" if request.parallel_tool_calls else "first"
