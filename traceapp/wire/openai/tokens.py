"""The bodies and answers of /tokenize, /detokenize and /tokenizer_info, as vLLM shapes them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from inference.chat.messages import Message, Tool
from inference.engine.types import ModelCard
from inference.engine.vocabulary import Vocabulary
from inference.errors import Rejected
from traceapp.wire.openai.logprobs import name_of
from traceapp.wire.openai.messages import MessageBody, ToolBody, to_messages

STRICT = ConfigDict(strict=True, extra="ignore")


class TokenizeBody(BaseModel):
    """Either a prompt or messages."""

    model_config = STRICT

    model: str | None = None
    prompt: str | None = None
    messages: list[MessageBody] | None = None
    tools: list[ToolBody] | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    add_special_tokens: bool | None = Field(
        None, description="Of no effect: no tokenizer here adds any."
    )
    add_generation_prompt: bool | None = Field(None, description="Only true.")
    return_token_strs: bool | None = None

    def check(self) -> None:
        """Raise Rejected, naming the field, for what cannot be tokenised."""
        if (self.prompt is None) == (self.messages is None):
            raise Rejected("prompt: either it or messages must be there", param="prompt")
        if self.add_generation_prompt is False:
            raise Rejected(
                "add_generation_prompt: this server cannot do without",
                param="add_generation_prompt",
            )

    def conversation(self) -> tuple[tuple[Message, ...], tuple[Tool, ...]]:
        return to_messages(self.messages or ()), tuple(t.to_tool() for t in self.tools or ())


class Tokens(BaseModel):
    count: int
    max_model_len: int
    tokens: list[int]
    token_strs: list[str] | None = Field(description="A part of a character is bytes:\\xNN.")

    @classmethod
    def of(
        cls,
        token_ids: tuple[int, ...],
        *,
        card: ModelCard,
        vocabulary: Vocabulary,
        with_strings: bool,
    ) -> Tokens:
        return cls(
            count=len(token_ids),
            max_model_len=card.max_model_len,
            tokens=list(token_ids),
            token_strs=[name_of(i, vocabulary) for i in token_ids] if with_strings else None,
        )


class DetokenizeBody(BaseModel):
    model_config = STRICT

    model: str | None = None
    tokens: list[int]


class Detokenized(BaseModel):
    prompt: str

    @classmethod
    def of(cls, token_ids: list[int], vocabulary: Vocabulary) -> Detokenized:
        """The text of the tokens, control tokens spelt out. Raises Rejected for what is none."""
        known = len(vocabulary.tokens)
        unknown = [str(token_id) for token_id in token_ids if not 0 <= token_id < known]
        if unknown:
            raise Rejected(
                f"tokens: not a token id of this vocabulary of {known}: {', '.join(unknown[:10])}",
                param="tokens",
            )
        text = b"".join(vocabulary.tokens[token_id] for token_id in token_ids)
        return cls(prompt=text.decode("utf-8", "replace"))


class TokenizerInfo(BaseModel):
    """What clients ask of a tokenizer's configuration."""

    tokenizer_class: str
    bos_token: str | None
    eos_token: str
    pad_token: str | None
    unk_token: str | None
    add_bos_token: bool
    add_eos_token: bool
    model_max_length: int
    chat_template: str | None

    @classmethod
    def of(cls, card: ModelCard, vocabulary: Vocabulary) -> TokenizerInfo:
        source = vocabulary.source
        names = {} if source is None else source.special_tokens
        return cls(
            tokenizer_class="PreTrainedTokenizerFast",
            bos_token=names.get("bos_token"),
            eos_token=names.get("eos_token") or vocabulary.text(min(vocabulary.eos_ids)),
            pad_token=names.get("pad_token"),
            unk_token=names.get("unk_token"),
            add_bos_token=False,
            add_eos_token=False,
            model_max_length=card.max_model_len,
            chat_template=None if source is None else source.chat_template,
        )
