"""
The values that the engine takes and gives. Token ids only: no text.

Every logprob is a natural logarithm of the model's own probability: the softmax of the raw
logits over the whole row, before temperature, penalties or any other setting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from inference.errors import InvalidRequest

Logits = NDArray[np.float32]  # (V,) of one position or (T, V) of several, V the head's rows


class FinishReason(StrEnum):
    EOS = "eos"  # the model drew an end-of-sequence token
    LENGTH = "length"  # the request's max_tokens were drawn
    STOPPED = "stopped"  # the caller wanted no more; no step has this, only a trace


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """Which model answers, and what its weights really are."""

    alias: str
    served_name: str  # what clients of the OpenAI endpoints see; the alias unless set
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
    top_k: int = 0  # 0 keeps the whole vocabulary
    top_p: float = 1.0  # 1 keeps the whole mass
    min_p: float = 0.0  # drops what is less probable than this share of the most probable
    repetition_penalty: float = 1.0  # over prompt and completion; 1 changes nothing
    presence_penalty: float = 0.0  # over the completion; 0 changes nothing
    frequency_penalty: float = 0.0  # over the completion; 0 changes nothing
    logit_bias: Mapping[int, float] = field(default_factory=dict)  # token id: added to its logit
    seed: int | None = None  # None draws fresh entropy

    def __post_init__(self) -> None:
        for name, bounds, holds in (
            ("temperature", "at least 0", self.temperature >= 0),
            ("top_k", "at least 0", self.top_k >= 0),
            ("top_p", "above 0 and at most 1", 0 < self.top_p <= 1),
            ("min_p", "from 0 to 1", 0 <= self.min_p <= 1),
            ("repetition_penalty", "above 0", self.repetition_penalty > 0),
            ("presence_penalty", "from -2 to 2", -2 <= self.presence_penalty <= 2),
            ("frequency_penalty", "from -2 to 2", -2 <= self.frequency_penalty <= 2),
            ("seed", "at least 0", self.seed is None or self.seed >= 0),
        ):
            value = getattr(self, name)
            if not holds or (isinstance(value, float) and math.isinf(value)):
                raise InvalidRequest(f"{name} must be {bounds}", param=name)


class Constraint(Protocol):
    """What a grammar allows next; one for each choice, for it remembers what was drawn."""

    def allowed(self) -> NDArray[np.bool_]:
        """Which ids may follow, (V,) bool; at least one, or the grammar is at its end."""
        ...

    def accept(self, token_id: int) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """One prompt to continue, once or several times."""

    prompt_ids: tuple[int, ...]  # at least one
    max_tokens: int  # new tokens of each choice; 0 reads the prompt and no more
    sampling: SamplingParams
    num_candidates: int  # how many of the most probable tokens each step lists
    num_choices: int = 1  # each with its own source of chance, from the seed and its index
    forced_ids: tuple[int, ...] = ()  # what the completion must begin with
    score_prompt: bool = False  # whether PromptScores are wanted
    ignore_eos: bool = False  # an end-of-sequence token is a token like any other
    min_tokens: int = 0  # end-of-sequence tokens are masked until so many are drawn
    stop_ids: frozenset[int] = frozenset()  # further tokens that end a completion
    with_tail: bool = False  # whether each step carries the Tail of its distribution
    constraint: Callable[[], Constraint] | None = None
    owner: str | None = None  # who may continue from what was read here; None keeps nothing


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token that could come next."""

    token_id: int
    logprob: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What the model said of one given token: how probable it was, and what else was."""

    token_id: int
    logprob: float
    rank: int  # 0 is the most probable token
    entropy: float  # of the model's distribution, in nats
    candidates: tuple[Candidate, ...]  # most probable first; may hold the token too


@dataclass(frozen=True, slots=True)
class PromptScores:
    """One score for each prompt token; None for the first, which nothing precedes."""

    scores: tuple[Score | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """How one token was drawn: the interval that it holds on the cumulative axis.

    The axis runs from 0 to 1 over the sampling distribution, most probable token first.
    """

    token_id: int
    u: float | None  # the uniform number laid on the axis; None for a greedy or a given token
    lower: float  # where the token's interval begins ...
    upper: float  # ... and ends: lower <= u < upper, where there is a u
    probability: float  # of the token, after the settings
    kept: int  # tokens that the settings leave in the draw


@dataclass(frozen=True, slots=True)
class Tail:
    """The distribution in short: its most probable tokens one by one, the rest in bins.

    From this the mass of any token at any temperature follows with the true normaliser.
    """

    head: tuple[Candidate, ...]  # most probable first
    bins: tuple[tuple[int, float], ...]  # how many tokens, and the mean of their logprobs


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One turn of the decode loop: what could come next, and what did."""

    choice: int  # which of the request's choices this is a step of
    index: int  # 0 is the first token after the prompt
    score: Score  # of the token that was drawn or given
    draw: Draw
    forced: bool  # whether the token was given and not drawn
    tail: Tail | None
    started_at: float  # monotonic seconds: before the forward pass of this step
    finished_at: float  # monotonic seconds: after the token was drawn
    finish_reason: FinishReason | None

    @property
    def token_id(self) -> int:
        return self.score.token_id

    @property
    def logprob(self) -> float:
        return self.score.logprob

    @property
    def rank(self) -> int:
        return self.score.rank

    @property
    def entropy(self) -> float:
        return self.score.entropy

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        return self.score.candidates


Event = PromptScores | Step
