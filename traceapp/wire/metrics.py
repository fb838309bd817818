"""The answer of /metrics/json."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class Sample(BaseModel):
    name: str
    labels: dict[str, str]
    value: float


class Bucket(BaseModel):
    le: str = Field(description='Upper bound in seconds; "+Inf" for the last.')
    count: float = Field(description="Observations at or below the bound.")


class HistogramSample(BaseModel):
    name: str
    buckets: list[Bucket]
    count: float
    sum: float


class MetricsAnswer(BaseModel):
    """Counters count since this process started."""

    schema_version: Literal[1] = 1
    server_id: str = Field(description="New at every start of the server.")
    started_at: float = Field(description="Unix seconds.")
    timestamp: float = Field(description="Unix seconds.")
    model_name: str | None
    counters: list[Sample]
    gauges: list[Sample]
    histograms: list[HistogramSample]
