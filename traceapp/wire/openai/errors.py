"""The bodies of errors as OpenAI's clients read them; `traceapp.api.dialects` writes them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field


class OpenAIErrorDetail(BaseModel):
    message: str
    type: str
    param: str | None = Field(description="The field at fault, where there is one.")
    code: str | None = Field(description="Stable name of the error; docs/errors.md lists them.")


class OpenAIErrorBody(BaseModel):
    object: Literal["error"] = "error"
    message: str
    error: OpenAIErrorDetail


class Problem(BaseModel):
    loc: list[str | int]
    msg: str
    type: str


class WrongShapeBody(BaseModel):
    """A body that is not of the endpoint's shape: at most ten problems, and OpenAI's error."""

    detail: list[Problem]
    error: OpenAIErrorDetail


ERRORS: dict[Any, Any] = {
    422: WrongShapeBody,
    **dict.fromkeys((400, 401, 403, 413, 429, 500, 503, 504), OpenAIErrorBody),
}
