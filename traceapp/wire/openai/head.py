"""What every answer begins with, and every chunk of one stream has in common."""

from __future__ import annotations

import time
import uuid
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import BaseModel, Field


@dataclass(frozen=True, slots=True)
class Head:
    id: str
    created: int  # Unix seconds
    model: str  # the caller's label, or the served model's name

    @classmethod
    def new(cls, prefix: str, model: str) -> Head:
        return cls(f"{prefix}-{uuid.uuid4().hex}", int(time.time()), model)

    def fields(self) -> dict[str, Any]:
        return asdict(self)


class Headed(BaseModel):
    """The fields of a head, in the order in which OpenAI's answers have them."""

    id: str
    object: str
    created: int = Field(description="Unix seconds; the same in every chunk of a stream.")
    model: str
