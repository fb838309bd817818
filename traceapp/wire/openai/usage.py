"""How many tokens a request took, as OpenAI writes it."""

from __future__ import annotations

from pydantic import BaseModel

from inference.completions.values import Usage


class UsageBody(BaseModel):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int

    @classmethod
    def of(cls, usage: Usage) -> UsageBody:
        return cls(
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            total_tokens=usage.prompt_tokens + usage.completion_tokens,
        )
