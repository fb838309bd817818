"""What every chunk of one stream has in common."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Head:
    id: str
    created: int  # Unix seconds
    model: str  # the caller's label, or the served model's name

    @classmethod
    def new(cls, prefix: str, model: str) -> Head:
        return cls(f"{prefix}-{uuid.uuid4().hex}", int(time.time()), model)
