"""What one request of the OpenAI endpoints asks for, with every default filled in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from inference.chat.messages import Message, Tool, ToolChoice
from inference.engine.types import Constraint, SamplingParams

MAX_CHOICES = 8
MAX_CANDIDATES = 20
Prompt = str | tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionSettings:
    """How prompts are continued. The same for every prompt of a batch and every choice."""

    sampling: SamplingParams
    max_tokens: int  # new tokens of each choice; 0 with echo only
    min_tokens: int = 0
    ignore_eos: bool = False
    num_choices: int = 1
    stop: tuple[str, ...] = ()
    num_candidates: int | None = None  # tokens listed beside each; None: no logprobs at all
    echo: bool = False
    constraint: Callable[[], Constraint] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What a caller asks of a chat, with every default filled in."""

    messages: tuple[Message, ...]
    settings: CompletionSettings
    tools: tuple[Tool, ...]
    tool_choice: ToolChoice
    parallel_tool_calls: bool = True
    reasoning_effort: str | None = None
    include_reasoning: bool = True
    template_kwargs: Mapping[str, Any] | None = None
