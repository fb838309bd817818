"""
The frames of the live socket: each a JSON object with a `type`; docs/live.md explains them.

Steps and the whole trace have the shapes of `wire.traces`. A frame about one run or one question
carries the `id` that its client gave it. The twin of these classes is frontend/src/wire.ts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from inference.engine.types import PromptScores, Score, Step, Tail
from inference.engine.vocabulary import Vocabulary
from inference.errors import TraceError, TryLater
from inference.limits import Limits
from inference.traces import TraceBasis, TraceRequest, bits
from traceapp.wire.models import LimitsAnswer, ModelEntry
from traceapp.wire.traces import TraceBody, TraceSoFar, TraceStep

MAX_ID = 64

FrameId = Annotated[str, Field(min_length=1, max_length=MAX_ID)]

# --- From the client -----------------------------------------------------------------------------


class _FromClient(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    id: FrameId


class Start(_FromClient):
    """Trace a prompt; a run that is on is stopped first."""

    type: Literal["start"]
    trace: TraceBody
    forced: list[int] = Field(default_factory=list, max_length=32)
    score_prompt: bool = False
    lab: bool = False

    def to_request(self, limits: Limits) -> TraceRequest:
        return replace(
            self.trace.to_request(limits),
            forced_ids=tuple(self.forced),
            score_prompt=self.score_prompt,
            with_tail=self.lab,
        )


class Stop(_FromClient):
    """End the run at its next step."""

    type: Literal["stop"]


class Count(_FromClient):
    """How many tokens has this text?"""

    type: Literal["count"]
    prompt: str


class Find(_FromClient):
    """Which tokens begin with this text?"""

    type: Literal["find"]
    text: str = Field(min_length=1)


ClientFrame = Start | Stop | Count | Find
_ByType = Annotated[ClientFrame, Field(discriminator="type")]
CLIENT_FRAME: TypeAdapter[ClientFrame] = TypeAdapter(_ByType)

# --- From the server -----------------------------------------------------------------------------


class Token(BaseModel):
    token_id: int
    token: str
    bytes: list[int]
    special: bool


def tokens_of(token_ids: Iterable[int], vocabulary: Vocabulary) -> list[Token]:
    return [
        Token(
            token_id=i,
            token=vocabulary.text(i),
            bytes=list(vocabulary.tokens[i]),
            special=vocabulary.is_special(i),
        )
        for i in token_ids
    ]


class Hello(BaseModel):
    """The first frame; sent once more when the model has been loaded."""

    type: Literal["hello"] = "hello"
    model: ModelEntry | None
    limits: LimitsAnswer
    vocabulary: int = Field(description="Tokens that have a rank; 0 until ready.")
    ready: bool
    versions: dict[str, str]


class QueuedFrame(BaseModel):
    type: Literal["queued"] = "queued"
    id: str
    position: int = Field(description="1 is next.")


class StartedFrame(BaseModel):
    type: Literal["started"] = "started"
    id: str
    prompt_tokens: list[Token]


class TokenScore(BaseModel):
    probability: float
    rank: int
    surprisal_bits: float
    entropy_bits: float

    @classmethod
    def of(cls, score: Score) -> TokenScore:
        return cls(
            probability=math.exp(score.logprob),
            rank=score.rank,
            surprisal_bits=bits(-score.logprob),
            entropy_bits=bits(score.entropy),
        )


class PromptScoresFrame(BaseModel):
    type: Literal["prompt_scores"] = "prompt_scores"
    id: str
    scores: list[TokenScore | None] = Field(description="null for the first: nothing precedes it.")

    @classmethod
    def of(cls, scored: PromptScores, *, id: str) -> PromptScoresFrame:
        return cls(id=id, scores=[score and TokenScore.of(score) for score in scored.scores])


class LabToken(BaseModel):
    token_id: int
    token: str
    bytes: list[int]
    logprob: float


class Lab(BaseModel):
    """A step's whole distribution in short; logprobs are natural logarithms of the model's own."""

    top: list[LabToken]
    tail: list[tuple[int, float]] = Field(description="Of each bin: tokens, mean logprob.")

    @classmethod
    def of(cls, tail: Tail, vocabulary: Vocabulary) -> Lab:
        top = [
            LabToken(
                token_id=c.token_id,
                token=vocabulary.text(c.token_id),
                bytes=list(vocabulary.tokens[c.token_id]),
                logprob=c.logprob,
            )
            for c in tail.head
        ]
        return cls(top=top, tail=list(tail.bins))


class StepFrame(BaseModel):
    type: Literal["step"] = "step"
    id: str
    step: TraceStep
    lab: Lab | None

    @classmethod
    def of(cls, step: Step, trace: TraceBasis, *, id: str) -> StepFrame:
        return cls(
            id=id,
            step=TraceStep.of(step, trace, with_analysis=True),
            lab=step.tail and Lab.of(step.tail, trace.vocabulary),
        )


class FinishedFrame(BaseModel):
    type: Literal["finished"] = "finished"
    id: str
    trace: TraceSoFar
    receipt: str = Field(description="By which the server knows this trace again, to share it.")


class StoppedFrame(BaseModel):
    """The run was stopped before its first step."""

    type: Literal["stopped"] = "stopped"
    id: str


class ErrorFrame(BaseModel):
    """What went wrong with one run or question, or, without an id, with the frame itself."""

    type: Literal["error"] = "error"
    id: str | None
    code: str
    message: str
    param: str | None
    retry_after: int | None = Field(description="Seconds, where trying again later may help.")

    @classmethod
    def of(cls, error: TraceError, *, id: str | None) -> ErrorFrame:
        retry_after = error.retry_after_seconds if isinstance(error, TryLater) else None
        return cls(
            id=id,
            code=error.code,
            message=error.message,
            param=error.param,
            retry_after=retry_after,
        )


class CountFrame(BaseModel):
    type: Literal["count"] = "count"
    id: str
    tokens: int
    limit: int


class FoundFrame(BaseModel):
    type: Literal["found"] = "found"
    id: str
    tokens: list[Token]


ServerFrame = (
    Hello
    | QueuedFrame
    | StartedFrame
    | PromptScoresFrame
    | StepFrame
    | FinishedFrame
    | StoppedFrame
    | ErrorFrame
    | CountFrame
    | FoundFrame
)
