"""The answers of /health, /v1/models and /v1/limits."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from inference.engine.types import ModelCard
from inference.limits import Limits


class Health(BaseModel):
    status: Literal["ready", "not_ready"]
    ready: bool

    @classmethod
    def of(cls, *, ready: bool) -> Health:
        return cls(status="ready" if ready else "not_ready", ready=ready)


class ModelEntry(BaseModel):
    """OpenAI's four fields first, then the contract's, then what was really loaded."""

    id: str
    object: Literal["model"] = "model"
    created: int = Field(description="Unix seconds at which the model was loaded.")
    owned_by: str
    alias: str
    repository: str
    revision: str
    ready: bool
    max_model_len: int = Field(description="Tokens, prompt and completion together.")
    source: Literal["hub", "embedded", "local"]
    dtype: str
    sha256: str = Field(description="Of the weights file that was loaded.")
    engine: str = Field(description="Which implementation runs the model.")

    @classmethod
    def of(cls, card: ModelCard, *, ready: bool) -> ModelEntry:
        return cls(
            id=card.served_name,
            created=card.created,
            owned_by=card.repository.split("/")[0],
            alias=card.alias,
            repository=card.repository,
            revision=card.revision,
            ready=ready,
            max_model_len=card.max_model_len,
            source=card.source,
            dtype=card.dtype,
            sha256=card.sha256,
            engine=card.engine,
        )


class ModelList(BaseModel):
    """The same list twice: `data` is OpenAI's name for it, `models` the contract's."""

    object: Literal["list"] = "list"
    data: list[ModelEntry]
    models: list[ModelEntry]


class LimitsAnswer(BaseModel):
    """What a caller may ask for now; an administrator may change it at any time."""

    max_prompt_characters: int
    max_prompt_tokens: int
    max_new_tokens: int
    max_alternatives: int
    max_completion_tokens: int = Field(description="Of each choice on the OpenAI endpoints.")
    max_choices: int = Field(description="`n` on the OpenAI endpoints.")
    rate_per_minute: int = Field(
        description="Requests to the model per client; 0 is no rate. An API key has its own."
    )
    max_waiting: int = Field(description="Requests that may wait for the model.")
    waiting_share: int = Field(description="Of these, what a client keeps when others need them.")
    deadline_seconds: float = Field(description="Time for one request, waiting included.")
    key_required: bool = Field(description="Whether the APIs answer only who shows an API key.")
    sharing: bool = Field(description="Whether a trace may be stored and its link sent.")
    sharing_days: int = Field(description="After which a shared trace is removed.")
    booth_free_text: bool = Field(description="Whether a booth takes prompts of its visitors' own.")

    @classmethod
    def of(cls, limits: Limits) -> LimitsAnswer:
        return cls(**{name: getattr(limits, name) for name in cls.model_fields})
