"""The answer of /oembed, as oembed.com has it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class OEmbedAnswer(BaseModel):
    version: Literal["1.0"] = "1.0"
    type: Literal["rich"] = "rich"
    provider_name: Literal["Token Trace"] = "Token Trace"
    provider_url: str
    title: str
    width: int = Field(description="Pixels; what was asked for, or the usual width.")
    height: int
    html: str = Field(description="One iframe, and nothing else.")
    cache_age: int = Field(3600, description="Seconds; a shared trace may be removed.")
