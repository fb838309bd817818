"""The body of POST /v1/completions, its answer and its chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from inference.completions.settings import MAX_CANDIDATES, CompletionSettings, Prompt
from inference.completions.values import Ending, Piece, Usage
from inference.engine.vocabulary import Vocabulary
from inference.generate_config import COMPLETION_MAX_TOKENS, GenerateConfig
from traceapp.wire.openai.generation import GenerationBody, pick
from traceapp.wire.openai.head import Head, Headed
from traceapp.wire.openai.logprobs import CompletionLogprobs
from traceapp.wire.openai.usage import UsageBody


class CompletionBody(GenerationBody):
    REFUSED: ClassVar[Mapping[str, tuple[Any, ...]]] = {"best_of": (1,), "suffix": ("",)}

    prompt: str | list[str] | list[int] | list[list[int]] | None = Field(
        "", description="One prompt or several, as text or as token ids."
    )
    best_of: int | None = Field(None, description="Only 1.")
    echo: bool | None = Field(None, description="Begin the text with the prompt.")
    logprobs: int | None = Field(
        None, ge=0, le=MAX_CANDIDATES, description="Tokens to list beside each of the text."
    )
    max_tokens: int | None = Field(None, ge=0, description="0 only with echo.")
    suffix: str | None = Field(None, description='Only "".')

    def prompts(self) -> list[Prompt]:
        """Each prompt, in order."""
        prompt = self.prompt or ""
        if isinstance(self.prompt, list) and not self.prompt:
            return []
        if isinstance(prompt, str):
            return [prompt]
        several = [p if isinstance(p, str) else tuple(p) for p in prompt if not isinstance(p, int)]
        single = tuple(p for p in prompt if isinstance(p, int))
        return [single] if single else several

    def settings(self, defaults: GenerateConfig) -> CompletionSettings:
        return CompletionSettings(
            sampling=self.sampling(defaults.sampling),
            max_tokens=pick(self.max_tokens, pick(defaults.max_tokens, COMPLETION_MAX_TOKENS)),
            ignore_eos=True,  # the contract's: a completion goes on to its length
            num_choices=self.n or 1,
            stop=self.stops(defaults.stop),
            num_candidates=self.logprobs,
            echo=self.echo or False,
        )


class CompletionChoice(BaseModel):
    text: str
    index: int
    logprobs: CompletionLogprobs | None
    finish_reason: Ending | None = Field(description="null in a chunk that does not end a choice.")


class Completion(Headed):
    """The answer, and each chunk of a stream: OpenAI gives both one shape."""

    object: Literal["text_completion"] = "text_completion"
    choices: list[CompletionChoice]
    usage: UsageBody | None = Field(None, description="null in every chunk but the last.")

    @classmethod
    def of(
        cls,
        pieces: Sequence[Piece],
        *,
        head: Head,
        vocabulary: Vocabulary | None,
        usage: Usage | None = None,
    ) -> Completion:
        """One choice for each piece; logprobs where a vocabulary is given to name tokens by."""
        return cls(
            **head.fields(),
            choices=[
                CompletionChoice(
                    text=piece.text,
                    index=piece.choice,
                    logprobs=vocabulary and CompletionLogprobs.of(piece.tokens, vocabulary),
                    finish_reason=piece.finish_reason,
                )
                for piece in pieces
            ],
            usage=usage and UsageBody.of(usage),
        )
