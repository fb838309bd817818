"""
A conversation as values, and what of it is refused before a template sees it.

The rules are those of the API (docs/api.md), not of any model: a template may refuse more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from inference.chat.jsontext import read_object
from inference.errors import Rejected

FUNCTION_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")  # as OpenAI has it
MAX_TOOLS: Final = 128  # as OpenAI has it

Mode = Literal["auto", "none", "required", "named"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One function that the assistant asked for."""

    id: str
    name: str
    arguments: str  # JSON text of an object


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of the history."""

    role: str  # system, developer, user, assistant or tool
    content: str | None = None
    reasoning: str | None = None  # what the assistant thought before it spoke
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None  # the call that a tool's message answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function that the assistant may ask for."""

    name: str
    description: str | None = None
    parameters: Mapping[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )
    strict: bool = False  # whether its arguments must follow `parameters` to the letter


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether the assistant may, may not or must call; with "named", which function."""

    mode: Mode
    name: str | None = None

    @property
    def forces_a_call(self) -> bool:
        return self.mode in ("required", "named")


def check_history(messages: Sequence[Message]) -> None:
    """Raise Rejected, which names the field, for a history that no model could be shown."""
    if not messages:
        raise Rejected("messages must hold at least one message", param="messages")
    open_calls: set[str] = set()  # of the last assistant turn, and not answered yet
    for index, message in enumerate(messages):
        at = f"messages[{index}]"
        _check_content(message, at)
        _check_calls(message, at)
        if message.role == "tool":
            if message.tool_call_id not in open_calls:
                raise Rejected(
                    f"{at}.tool_call_id must name a call, not answered yet, of the assistant "
                    "message right before the results",
                    param=f"{at}.tool_call_id",
                )
            open_calls.remove(message.tool_call_id)
            continue
        if message.tool_call_id is not None:
            raise Rejected(
                f"{at}.tool_call_id belongs to the role tool only", param=f"{at}.tool_call_id"
            )
        open_calls = {call.id for call in message.tool_calls}


def check_tools(tools: Sequence[Tool], choice: ToolChoice) -> None:
    """Raise Rejected for tools that cannot be told apart, or a choice that they do not allow."""
    if len(tools) > MAX_TOOLS:
        raise Rejected(f"tools must hold at most {MAX_TOOLS} functions", param="tools")
    names = [tool.name for tool in tools]
    for index, name in enumerate(names):
        _check_name(name, f"tools[{index}].function.name")
        if name in names[:index]:
            raise Rejected(
                f"tools[{index}].function.name repeats {name!r}",
                param=f"tools[{index}].function.name",
            )
    if choice.mode != "none" and not tools:
        raise Rejected(f"tool_choice {choice.mode!r} needs tools", param="tool_choice")
    if choice.mode == "named" and choice.name not in names:
        raise Rejected("tool_choice names a function that tools lacks", param="tool_choice")


def uses_tools(messages: Sequence[Message], tools: Sequence[Tool]) -> bool:
    """Whether a model must know of tools to follow this."""
    return bool(tools) or any(m.role == "tool" or m.tool_calls for m in messages)


def _check_content(message: Message, at: str) -> None:
    if message.role not in ("system", "developer", "user", "assistant", "tool"):
        raise Rejected(
            f"{at}.role must be system, developer, user, assistant or tool", param=f"{at}.role"
        )
    speaks_otherwise = message.role == "assistant" and (
        message.tool_calls or message.reasoning is not None
    )
    if message.content is None and not speaks_otherwise:
        raise Rejected(
            f"{at}.content may be null only where an assistant calls tools", param=f"{at}.content"
        )
    if message.reasoning is not None and message.role != "assistant":
        raise Rejected(
            f"{at}.reasoning belongs to the role assistant only", param=f"{at}.reasoning"
        )


def _check_calls(message: Message, at: str) -> None:
    if message.tool_calls and message.role != "assistant":
        raise Rejected(
            f"{at}.tool_calls belong to the role assistant only", param=f"{at}.tool_calls"
        )
    seen: set[str] = set()
    for index, call in enumerate(message.tool_calls):
        here = f"{at}.tool_calls[{index}]"
        if not call.id or call.id in seen:
            raise Rejected(f"{here}.id must be there, and once", param=f"{here}.id")
        seen.add(call.id)
        _check_name(call.name, f"{here}.function.name")
        try:
            read_object(call.arguments)
        except ValueError as error:
            raise Rejected(
                f"{here}.function.arguments must be the JSON text of an object",
                param=f"{here}.function.arguments",
            ) from error


def _check_name(name: str, param: str) -> None:
    if not FUNCTION_NAME.fullmatch(name):
        raise Rejected(
            f"{param} must be 1 to 64 letters, digits, underscores and hyphens", param=param
        )
