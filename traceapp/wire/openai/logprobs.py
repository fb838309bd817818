"""
Logprobs in OpenAI's two shapes: natural logarithms of the model's own probabilities.

JSON has no infinity, so a token that the model rules out has -9999.0, as OpenAI has it.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, Field

from inference.completions.values import WrittenToken
from inference.engine.types import Score
from inference.engine.vocabulary import Vocabulary

LEAST = -9999.0


class CompletionLogprobs(BaseModel):
    """Of /v1/completions: four lists, one entry a token. A prompt's first token has nulls."""

    tokens: list[str] = Field(description="A part of a character is written as bytes:\\xNN.")
    token_logprobs: list[float | None]
    top_logprobs: list[dict[str, float] | None] = Field(
        description="The most probable tokens, and the token itself where it is none of them."
    )
    text_offset: list[int] = Field(description="Characters of `text` before the token.")

    @classmethod
    def of(cls, tokens: Iterable[WrittenToken], vocabulary: Vocabulary) -> CompletionLogprobs:
        listed = list(tokens)
        return cls(
            tokens=[name_of(token.token_id, vocabulary) for token in listed],
            token_logprobs=[t.score and finite(t.score.logprob) for t in listed],
            top_logprobs=[t.score and _by_name(t.score, vocabulary) for t in listed],
            text_offset=[token.offset for token in listed],
        )


class TopLogprob(BaseModel):
    token: str
    logprob: float
    bytes: list[int]

    @classmethod
    def of(cls, token_id: int, logprob: float, vocabulary: Vocabulary) -> TopLogprob:
        return cls(
            token=vocabulary.text(token_id),
            logprob=finite(logprob),
            bytes=list(vocabulary.tokens[token_id]),
        )


class TokenLogprob(TopLogprob):
    top_logprobs: list[TopLogprob] = Field(description="Most probable first.")


class ChatLogprobs(BaseModel):
    """Of /v1/chat/completions."""

    content: list[TokenLogprob]
    refusal: None = None

    @classmethod
    def of(cls, tokens: Iterable[WrittenToken], vocabulary: Vocabulary) -> ChatLogprobs:
        return cls(
            content=[
                TokenLogprob(
                    **dict(TopLogprob.of(token.token_id, token.score.logprob, vocabulary)),
                    top_logprobs=[
                        TopLogprob.of(c.token_id, c.logprob, vocabulary)
                        for c in token.score.candidates
                    ],
                )
                for token in tokens
                if token.score is not None
            ]
        )


def finite(logprob: float) -> float:
    return max(logprob, LEAST)


def name_of(token_id: int, vocabulary: Vocabulary) -> str:
    """A token as a string that says which it is, also where it is part of a character."""
    piece = vocabulary.tokens[token_id]
    try:
        return piece.decode()
    except UnicodeDecodeError:
        return "bytes:" + "".join(f"\\x{byte:02x}" for byte in piece)


def _by_name(score: Score, vocabulary: Vocabulary) -> dict[str, float]:
    """The token and the candidates by name, most probable first.

    The token has its plain name. Of candidates with one name, the less probable ones are named
    by their ids, so that none hides another.
    """
    own = name_of(score.token_id, vocabulary)
    found: dict[str, float] = {}
    for candidate in score.candidates:
        name = name_of(candidate.token_id, vocabulary)
        if candidate.token_id != score.token_id and (name in found or name == own):
            name = f"token_id:{candidate.token_id}"
        found[name] = finite(candidate.logprob)
    found.setdefault(own, finite(score.logprob))
    return found
