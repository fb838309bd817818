"""
The verb of chat: from messages to a prompt by the model's own template, then as any completion.

What a model's answer means beyond its text (thoughts, calls) the catalogue says by alias.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from inference.chat.controls import template_kwargs
from inference.chat.grammar import grammar
from inference.chat.messages import (
    Message,
    Tool,
    ToolChoice,
    check_history,
    check_tools,
    uses_tools,
)
from inference.chat.model import ChatModel
from inference.chat.parsing import AssistantParser, Calls
from inference.completions.reading import Reader
from inference.completions.service import complete
from inference.completions.settings import ChatRequest
from inference.completions.values import Piece, Usage
from inference.engine.types import Constraint
from inference.errors import Rejected, TimedOut
from inference.limits import Limits
from inference.line import Caller
from inference.runtime import Runtime


async def chat(
    request: ChatRequest,
    *,
    serving: Runtime,
    limits: Limits,
    arrived_at: float,
    caller: Caller | None = None,
) -> AsyncGenerator[Piece | Usage]:
    """Check everything, and return the pieces to come, as `service.complete` does."""
    chat_model = _chat_model(serving)
    check_tools(request.tools, request.tool_choice)
    kwargs = _variables(
        chat_model,
        request.messages,
        tools=request.tools,
        effort=request.reasoning_effort,
        given=request.template_kwargs,
    )
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
        caller=caller,
        new_reader=new_reader,
    )


async def conversation_ids(
    messages: Sequence[Message],
    *,
    tools: Sequence[Tool],
    kwargs: Mapping[str, Any] | None,
    serving: Runtime,
) -> tuple[int, ...]:
    """The tokens that a chat of these messages would begin with. Raises Rejected or NotReady."""
    chat_model = _chat_model(serving)
    check_tools(tools, ToolChoice("auto" if tools else "none"))
    variables = _variables(chat_model, messages, tools=tools, effort=None, given=kwargs)
    return await asyncio.to_thread(
        chat_model.template.prompt_ids, messages, tools=tools, kwargs=variables
    )


def _chat_model(serving: Runtime) -> ChatModel:
    _ = serving.engine  # raises NotReady before there is one
    if serving.chat_model is None:
        raise Rejected(
            f"{serving.card.alias} has no chat template: it cannot chat", param="messages"
        )
    return serving.chat_model


def _variables(
    chat_model: ChatModel,
    messages: Sequence[Message],
    *,
    tools: Sequence[Tool],
    effort: str | None,
    given: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The template's variables, for a history that the model can be shown. Raises Rejected."""
    model = chat_model.model
    check_history(messages)
    if model.tool_parser is None and uses_tools(messages, tools):
        raise Rejected(f"{model.alias} cannot call tools", param="tools")
    return template_kwargs(model, reasoning_effort=effort, given=given)


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
