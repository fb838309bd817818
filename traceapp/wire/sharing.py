"""The shapes of shared traces: what is signed, stored and handed out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from inference.traces import Trace
from traceapp.wire.traces import TraceSoFar

TRACE_ID = re.compile(r"[A-Za-z0-9_-]{22}")  # 128 bits of base64url
MAX_RECEIPT = 8192
REPLACEMENT = "\ufffd"  # what stands for bytes that are only part of a character

Bytes = Annotated[str, Field(pattern="^([0-9a-f]{2})+$", description="Bytes as hex digits.")]


class Provenance(BaseModel):
    """What a trace does not say of itself: how it was asked for, and by what it was made."""

    made_at: datetime
    source: Literal["hub", "embedded", "local"]
    dtype: str
    sha256: str = Field(description="Of the weights file that was loaded.")
    engine: str = Field(description="Which implementation ran the model.")
    vocabulary: int = Field(description="Tokens that have a rank.")
    max_new_tokens: int
    top_k: int
    # A browser reads integers to 53 bits only; here the seed's last digits are safe.
    seed: int | None
    prompt_bytes: list[Bytes] = Field(
        description="Of the prompt's tokens whose text has U+FFFD, in their order."
    )
    special_ids: list[int] = Field(description="Which of the trace's tokens are control tokens.")
    versions: dict[str, str]

    @classmethod
    def of(cls, trace: Trace, *, made_at: datetime, versions: Mapping[str, str]) -> Self:
        card, request, vocabulary = trace.model, trace.request, trace.vocabulary
        broken = [i for i in trace.prompt_ids if REPLACEMENT in vocabulary.text(i)]
        listed = {c.token_id for step in trace.steps for c in trace.alternatives(step)}
        shown = {*trace.prompt_ids, *(step.token_id for step in trace.steps), *listed}
        return cls(
            made_at=made_at,
            source=card.source,
            dtype=card.dtype,
            sha256=card.sha256,
            engine=card.engine,
            vocabulary=len(vocabulary.tokens),
            max_new_tokens=request.max_new_tokens,
            top_k=request.top_k,
            seed=request.seed,
            prompt_bytes=[vocabulary.tokens[i].hex() for i in broken],
            special_ids=sorted(i for i in shown if vocabulary.is_special(i)),
            versions=dict(versions),
        )


class SharedTraceBody(BaseModel):
    """The body of POST /v1/shared-traces."""

    model_config = ConfigDict(extra="forbid")

    trace: TraceSoFar = Field(description="A trace with its analysis, as this server answered it.")
    receipt: str = Field(max_length=MAX_RECEIPT, description="What came with that trace.")


class SharedTraceLinks(BaseModel):
    """Where a shared trace is, and how its author removes it."""

    id: str
    url: str = Field(description="The page that shows it.")
    delete_url: str = Field(description="The page that removes it; keep it to yourself.")
    delete_token: str = Field(description="For the header X-Delete-Token; shown only here.")
    expires_at: datetime


class SharedTraceAnswer(BaseModel):
    id: str
    created_at: datetime
    expires_at: datetime
    trace: TraceSoFar
    provenance: Provenance
