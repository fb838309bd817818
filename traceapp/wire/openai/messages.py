"""The messages and the tools of a chat, as they come in."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from inference.chat.messages import Message, Tool, ToolCall, ToolChoice
from inference.errors import Rejected

STRICT = ConfigDict(strict=True, extra="ignore")
# Message parts are joined by line breaks, as other open servers do.
BETWEEN_PARTS = "\n"


class ContentPart(BaseModel):
    model_config = STRICT

    type: str
    text: str | None = None


class FunctionCallBody(BaseModel):
    model_config = STRICT

    name: str
    arguments: str = Field(description="JSON text of an object.")


class ToolCallBody(BaseModel):
    model_config = STRICT

    id: str = Field(min_length=1)
    type: Literal["function"] = "function"
    function: FunctionCallBody


class MessageBody(BaseModel):
    """One message. `reasoning_content` is another name of `reasoning`, which some clients send."""

    model_config = STRICT

    role: str
    content: str | list[ContentPart] | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[ToolCallBody] | None = None
    tool_call_id: str | None = None

    def to_message(self, at: str) -> Message:
        """The message as a value; `at` is its place. Raises Rejected for what is not text."""
        calls = self.tool_calls or []
        return Message(
            role=self.role,
            content=self._text(at),
            reasoning=self.reasoning if self.reasoning is not None else self.reasoning_content,
            tool_calls=tuple(
                ToolCall(id=call.id, name=call.function.name, arguments=call.function.arguments)
                for call in calls
            ),
            tool_call_id=self.tool_call_id,
        )

    def _text(self, at: str) -> str | None:
        if not isinstance(self.content, list):
            return self.content
        texts = []
        for place, part in enumerate(self.content):
            if part.type != "text" or part.text is None:
                param = f"{at}.content[{place}]"
                raise Rejected(f"{param}: only parts of type text can be read", param=param)
            texts.append(part.text)
        return BETWEEN_PARTS.join(texts)


class FunctionBody(BaseModel):
    model_config = STRICT

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    description: str | None = None
    parameters: dict[str, Any] | None = Field(None, description="JSON Schema of the arguments.")
    strict: bool | None = None


class ToolBody(BaseModel):
    model_config = STRICT

    type: Literal["function"]
    function: FunctionBody

    def to_tool(self) -> Tool:
        function = self.function
        given = {} if function.parameters is None else {"parameters": function.parameters}
        return Tool(
            name=function.name,
            description=function.description,
            strict=function.strict or False,
            **given,
        )


def to_choice(asked: str | dict[str, Any] | None, *, has_tools: bool) -> ToolChoice:
    """What `tool_choice` says. Raises Rejected for what it cannot."""
    match asked:
        case None:
            return ToolChoice("auto" if has_tools else "none")
        case "auto" | "none" | "required":
            return ToolChoice(asked)
        case {"type": "function", "function": {"name": str(name), **more}, **rest} if not (
            more or rest
        ):
            return ToolChoice("named", name)
    raise Rejected(
        'tool_choice: must be "none", "auto", "required" or '
        '{"type": "function", "function": {"name": "..."}}',
        param="tool_choice",
    )
