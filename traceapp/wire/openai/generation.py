"""
What the bodies of both generation endpoints have, in the order of OpenAI's reference.

Types are strict. An omitted field takes the server's default, and so does null, but for `top_k`
and `stop`, where null turns the default off. A field of OpenAI's that this server cannot honour
is refused by name unless it says what would be done anyway; one that nobody defines is ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from inference.completions.settings import MAX_CHOICES
from inference.engine.types import SamplingParams
from inference.errors import Rejected
from inference.generate_config import GenerateConfig

MAX_LABEL = 256  # characters of `model`, which is sent back
MAX_STOPS = 64  # OpenAI takes 4; evaluation tasks come with more
MAX_STOP_CHARACTERS = 1000
MAX_ECHO = 200  # characters of a caller's own input in an error
# Fields of OpenAI's that say nothing about the answer, and are accepted and ignored.
IGNORED = (
    *("metadata", "prompt_cache_key", "prompt_cache_retention", "safety_identifier"),
    *("service_tier", "store", "user", "verbosity"),
)

Number = Annotated[float, Field(allow_inf_nan=False)]
Bias = Annotated[float, Field(ge=-100, le=100, allow_inf_nan=False)]
Stop = Annotated[str, Field(max_length=MAX_STOP_CHARACTERS)]
T = TypeVar("T")


class StreamOptions(BaseModel):
    """`include_usage` may say what it likes: a stream always ends with the usage."""

    model_config = ConfigDict(strict=True)

    include_usage: bool | None = None


class GenerationBody(BaseModel):
    """The fields of both bodies."""

    model_config = ConfigDict(strict=True, extra="ignore")

    # Fields that cannot be honoured, each with what it may hold nevertheless, beside null.
    REFUSED: ClassVar[Mapping[str, tuple[Any, ...]]] = {}

    model: str | None = Field(None, max_length=MAX_LABEL, description="A label; it is sent back.")
    frequency_penalty: Number | None = Field(None, ge=-2, le=2)
    logit_bias: dict[str, Bias] | None = Field(
        None, description="Token id to what is added to its logit."
    )
    n: int | None = Field(None, ge=1, le=MAX_CHOICES, description="Completions of each prompt.")
    presence_penalty: Number | None = Field(None, ge=-2, le=2)
    seed: int | None = Field(
        None, ge=-(2**63), lt=2**63, description="Makes the draws repeatable; null draws fresh."
    )
    stop: Stop | Annotated[list[Stop], Field(max_length=MAX_STOPS)] | None = Field(
        None, description="Strings that end a completion and are no part of it."
    )
    stream: bool | None = Field(None, description="Send server-sent events as tokens are drawn.")
    stream_options: StreamOptions | None = None
    temperature: Number | None = Field(None, ge=0, le=2, description="0 is greedy.")
    top_p: Number | None = Field(None, gt=0, le=1)
    # Not OpenAI's, but other servers' too.
    top_k: int | None = Field(None, ge=-1, description="0, -1 and null turn it off.")
    min_p: Number | None = Field(None, ge=0, le=1)
    repetition_penalty: Number | None = Field(None, ge=0.01, le=100)

    def check_honoured(self) -> None:
        """Raise Rejected, naming the field, where one asks for what this server does not do."""
        for name, harmless in self.REFUSED.items():
            value = getattr(self, name)
            if value is not None and value not in harmless:
                raise Rejected(f"{name}: this server cannot do that", param=name)

    def streams(self, defaults: GenerateConfig) -> bool:
        streams = pick(self.stream, defaults.stream)
        if self.stream_options is not None and not streams:
            raise Rejected("stream_options: only with stream", param="stream_options")
        return streams

    def sampling(self, defaults: SamplingParams) -> SamplingParams:
        """How tokens are drawn. Raises Rejected for a bias on what is no token id."""
        plain = ("temperature", "top_p", "min_p", "repetition_penalty")
        penalties = ("presence_penalty", "frequency_penalty")
        asked: dict[str, Any] = {
            name: value
            for name in (*plain, *penalties)
            if (value := getattr(self, name)) is not None
        }
        if "top_k" in self.model_fields_set:
            asked["top_k"] = max(self.top_k or 0, 0)
        if self.seed is not None:
            asked["seed"] = self.seed % 2**64  # seeds from 0 up stay as they are
        if self.logit_bias is not None:
            asked["logit_bias"] = _by_id(self.logit_bias)
        return replace(defaults, **asked)

    def stops(self, defaults: tuple[str, ...]) -> tuple[str, ...]:
        if "stop" not in self.model_fields_set:
            return defaults
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop or ())


def pick(asked: T | None, default: T) -> T:
    """What was asked for, or the default."""
    return default if asked is None else asked


def _by_id(bias: Mapping[str, float]) -> dict[int, float]:
    # No id has more digits, and Python refuses to read thousands of them.
    bad = [key for key in bias if not (key.isascii() and key.isdigit() and len(key) <= 10)]
    if bad:
        raise Rejected(
            f"logit_bias: a key must be a token id, not {', '.join(bad)[:MAX_ECHO]}",
            param="logit_bias",
        )
    return {int(key): value for key, value in bias.items()}
