"""
The values that the engine takes and gives. Token ids only: no text, no tensors.

Every logprob is a natural logarithm of the model's own probability: the softmax of the raw
logits over the whole row, before temperature, top-p or any other setting.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from inference.errors import InvalidRequest


class FinishReason(StrEnum):
    EOS = "eos"  # the model drew an end-of-sequence token
    LENGTH = "length"  # the request's max_tokens were drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """Which model answers, and what its weights really are."""

    alias: str
    repository: str
    revision: str  # 40 hex digits
    source: Literal["hub", "embedded", "local"]
    dtype: str
    sha256: str  # of the weights file that was loaded
    max_model_len: int  # tokens, prompt and completion together
    engine: str  # which implementation runs it
    created: int  # Unix seconds at which it was loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingParams:
    """How a token is drawn. The defaults draw from the model's own distribution."""

    temperature: float = 1.0  # 0 is greedy: always the most probable token
    top_p: float = 1.0  # 1 keeps the whole mass
    seed: int | None = None  # None draws fresh entropy

    def __post_init__(self) -> None:
        if not (math.isfinite(self.temperature) and self.temperature >= 0):
            raise InvalidRequest("temperature must be finite and at least 0", param="temperature")
        if not 0 < self.top_p <= 1:
            raise InvalidRequest("top_p must be above 0 and at most 1", param="top_p")
        if self.seed is not None and self.seed < 0:
            raise InvalidRequest("seed must be at least 0", param="seed")


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """One sequence to continue."""

    prompt_ids: tuple[int, ...]  # at least one
    max_tokens: int  # new tokens, not counting the prompt's
    sampling: SamplingParams
    num_candidates: int  # how many of the most probable tokens each step lists


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that could come next."""

    token_id: int
    logprob: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """How one token was drawn: the interval that it holds on the cumulative axis.

    The axis runs from 0 to 1 over the sampling distribution, most probable token first.
    """

    token_id: int
    u: float | None  # the uniform number laid on the axis; None in greedy mode
    lower: float  # where the token's interval begins ...
    upper: float  # ... and ends: lower <= u < upper
    probability: float  # of the token, after the settings
    kept: int  # tokens that the settings leave in the draw


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One turn of the decode loop: what could come next, and what did."""

    index: int  # 0 is the first token after the prompt
    token_id: int
    logprob: float
    rank: int  # 0 is the most probable token
    candidates: tuple[Candidate, ...]  # most probable first; may hold the drawn token too
    entropy: float  # of the model's distribution, in nats
    draw: Draw
    started_at: float  # monotonic seconds: before the forward pass of this step
    finished_at: float  # monotonic seconds: after the token was drawn
    finish_reason: FinishReason | None
