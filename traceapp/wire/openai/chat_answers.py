"""The answer of POST /v1/chat/completions, and the chunks of its stream."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, model_serializer

from inference.chat.deltas import CallArguments, CallBegun, ContentText, Delta, ReasoningText
from inference.completions.values import Ending, Piece, Usage
from inference.engine.vocabulary import Vocabulary
from traceapp.wire.openai.head import Head, Headed
from traceapp.wire.openai.logprobs import ChatLogprobs
from traceapp.wire.openai.usage import UsageBody


class Sparse(BaseModel):
    """Fields that are not set are left out of the JSON; null is written where it is meant."""

    @model_serializer(mode="wrap")
    def _only_what_is_set(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {name: value for name, value in write(self).items() if name in self.model_fields_set}


class CalledFunction(Sparse):
    name: str = ""
    arguments: str = Field("", description="JSON text of an object, or the next part of it.")


class CallPart(Sparse):
    """A call, whole in an answer; in a stream `index` says which call a part belongs to."""

    index: int = 0
    id: str = ""
    type: Literal["function"] = "function"
    function: CalledFunction


class ChatMessage(Sparse):
    """A message, whole in an answer, in parts in a stream."""

    role: Literal["assistant"] = "assistant"
    content: str | None = None
    refusal: None = None
    reasoning: str = Field("", description="What the model thought, where it says so.")
    tool_calls: list[CallPart] = []

    @classmethod
    def whole(cls, deltas: Iterable[Delta]) -> ChatMessage:
        parts = _Parts(deltas)
        fields: dict[str, Any] = {"role": "assistant", "refusal": None}
        if parts.reasoning:
            fields["reasoning"] = parts.reasoning
        if parts.calls:
            fields["tool_calls"] = [
                CallPart(
                    id=call.begun.id if call.begun else "",
                    type="function",
                    function=CalledFunction(
                        name=call.begun.name if call.begun else "", arguments=call.arguments
                    ),
                )
                for call in parts.calls.values()
            ]
        return cls(**fields, content=parts.content if parts.content or not parts.calls else None)

    @classmethod
    def part(cls, deltas: Iterable[Delta], *, is_first: bool, may_call: bool) -> ChatMessage:
        """A delta. The role comes first and once: clients put the parts together as text.

        With it come words, if only none of them: "", or null where calls may come instead.
        """
        parts = _Parts(deltas)
        fields: dict[str, Any] = {}
        if is_first:
            fields = {"role": "assistant", "content": None if may_call else ""}
        if parts.content:
            fields["content"] = parts.content
        if parts.reasoning:
            fields["reasoning"] = parts.reasoning
        if parts.calls:
            fields["tool_calls"] = [_part(index, call) for index, call in parts.calls.items()]
        return cls(**fields)


class ChatChoice(BaseModel):
    index: int
    message: ChatMessage
    logprobs: ChatLogprobs | None
    finish_reason: Ending | None


class ChatCompletion(Headed):
    object: Literal["chat.completion"] = "chat.completion"
    choices: list[ChatChoice]
    usage: UsageBody

    @classmethod
    def of(
        cls,
        pieces: Sequence[Piece],
        *,
        head: Head,
        vocabulary: Vocabulary | None,
        usage: Usage,
    ) -> ChatCompletion:
        """One choice for each piece; logprobs where a vocabulary is given to name tokens by."""
        return cls(
            **head.fields(),
            choices=[
                ChatChoice(
                    index=piece.choice,
                    message=ChatMessage.whole(piece.deltas),
                    logprobs=vocabulary and ChatLogprobs.of(piece.tokens, vocabulary),
                    finish_reason=piece.finish_reason,
                )
                for piece in pieces
            ],
            usage=UsageBody.of(usage),
        )


class ChatChunkChoice(BaseModel):
    index: int
    delta: ChatMessage
    logprobs: ChatLogprobs | None
    finish_reason: Ending | None = Field(description="null but in the chunk that ends a choice.")


class ChatChunk(Headed):
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    choices: list[ChatChunkChoice]
    usage: UsageBody | None = Field(description="null in every chunk but the last.")

    @classmethod
    def of(
        cls,
        piece: Piece,
        *,
        head: Head,
        vocabulary: Vocabulary | None,
        is_first: bool,
        may_call: bool,
    ) -> ChatChunk:
        """The next part of one choice; `is_first` of that choice's."""
        choice = ChatChunkChoice(
            index=piece.choice,
            delta=ChatMessage.part(piece.deltas, is_first=is_first, may_call=may_call),
            logprobs=vocabulary and ChatLogprobs.of(piece.tokens, vocabulary),
            finish_reason=piece.finish_reason,
        )
        return cls(**head.fields(), choices=[choice], usage=None)

    @classmethod
    def last(cls, usage: Usage, *, head: Head) -> ChatChunk:
        return cls(**head.fields(), choices=[], usage=UsageBody.of(usage))


class _Call:
    def __init__(self) -> None:
        self.begun: CallBegun | None = None
        self.arguments = ""


class _Parts:
    """Deltas sorted by what they are part of."""

    def __init__(self, deltas: Iterable[Delta]) -> None:
        self.content = ""
        self.reasoning = ""
        self.calls: dict[int, _Call] = {}
        for delta in deltas:
            match delta:
                case ContentText(text):
                    self.content += text
                case ReasoningText(text):
                    self.reasoning += text
                case CallBegun(index):
                    self.calls.setdefault(index, _Call()).begun = delta
                case CallArguments(index, fragment):
                    self.calls.setdefault(index, _Call()).arguments += fragment


def _part(index: int, call: _Call) -> CallPart:
    if call.begun is None:
        return CallPart(index=index, function=CalledFunction(arguments=call.arguments))
    return CallPart(
        index=index,
        id=call.begun.id,
        type="function",
        function=CalledFunction(name=call.begun.name, arguments=call.arguments),
    )
