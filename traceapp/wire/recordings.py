"""The shape of a recorded trace: what the booth shows when the model cannot be asked."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from traceapp.wire.sharing import Provenance
from traceapp.wire.traces import TraceAnswer

SLUG = "^[a-z0-9-]{1,64}$"


class Recording(BaseModel):
    """A whole trace, and by what, when and how it was made."""

    model_config = ConfigDict(extra="forbid")

    slug: str = Field(pattern=SLUG, description="Names the prompt; the file is called so too.")
    trace: TraceAnswer = Field(description="As POST /v1/traces?include=analysis answers it.")
    provenance: Provenance

    @model_validator(mode="after")
    def _has_what_is_drawn(self) -> Self:
        if not self.trace.steps:
            raise ValueError("a recording needs a step")
        if any(step.analysis is None for step in self.trace.steps):
            raise ValueError("each step of a recording needs its analysis")
        return self
