"""The body of POST /v1/chat/completions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from inference.completions.settings import MAX_CANDIDATES, ChatRequest, CompletionSettings
from inference.errors import Rejected
from inference.generate_config import CHAT_MAX_TOKENS, GenerateConfig
from traceapp.wire.openai.generation import GenerationBody, pick
from traceapp.wire.openai.messages import MessageBody, ToolBody, to_choice

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]


class JsonSchema(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    name: str | None = None
    description: str | None = None
    # `schema` is taken, by pydantic.
    json_schema: dict[str, Any] | None = Field(None, alias="schema")
    strict: bool | None = None


class ResponseFormat(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None


class ChatBody(GenerationBody):
    REFUSED: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "modalities": (["text"],),
        "audio": (),
        "prediction": (),
        "web_search_options": (),
        "functions": ([],),
        "function_call": ("none",),
    }

    messages: list[MessageBody]
    modalities: Any = Field(None, description='Only ["text"].')
    reasoning_effort: Effort | None = None
    max_completion_tokens: int | None = Field(None, gt=0, description="Wins over max_tokens.")
    web_search_options: Any = Field(None, description="Only null.")
    top_logprobs: int | None = Field(None, ge=0, le=MAX_CANDIDATES)
    response_format: ResponseFormat | None = None
    audio: Any = Field(None, description="Only null.")
    logprobs: bool | None = None
    max_tokens: int | None = Field(None, gt=0)
    prediction: Any = Field(None, description="Only null.")
    tools: list[ToolBody] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    function_call: Any = Field(None, description='Only "none".')
    functions: Any = Field(None, description="Only [].")
    # Not OpenAI's.
    min_tokens: int | None = Field(None, ge=0)
    ignore_eos: bool | None = None
    include_reasoning: bool | None = None
    chat_template_kwargs: dict[str, Any] | None = None

    def to_request(self, defaults: GenerateConfig) -> ChatRequest:
        """The request with every default filled in. Raises Rejected, naming the field."""
        tools = tuple(tool.to_tool() for tool in self.tools or ())
        return ChatRequest(
            messages=tuple(
                message.to_message(f"messages[{place}]")
                for place, message in enumerate(self.messages)
            ),
            settings=self._settings(defaults),
            tools=tools,
            tool_choice=to_choice(self.tool_choice, has_tools=bool(tools)),
            parallel_tool_calls=pick(self.parallel_tool_calls, True),
            reasoning_effort=self.reasoning_effort,
            include_reasoning=pick(self.include_reasoning, True),
            template_kwargs=self.chat_template_kwargs,
        )

    def _settings(self, defaults: GenerateConfig) -> CompletionSettings:
        if self.top_logprobs is not None and not self.logprobs:
            raise Rejected("top_logprobs: only with logprobs", param="top_logprobs")
        asked = pick(self.max_completion_tokens, self.max_tokens)
        return CompletionSettings(
            sampling=self.sampling(defaults.sampling),
            max_tokens=pick(asked, pick(defaults.max_tokens, CHAT_MAX_TOKENS)),
            min_tokens=pick(self.min_tokens, defaults.min_tokens),
            ignore_eos=pick(self.ignore_eos, defaults.ignore_eos),
            num_choices=self.n or 1,
            stop=self.stops(defaults.stop),
            num_candidates=(self.top_logprobs or 0) if self.logprobs else None,
        )
