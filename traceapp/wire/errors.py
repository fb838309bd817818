"""The one body of every error."""

from __future__ import annotations

from pydantic import BaseModel, Field


class ErrorDetail(BaseModel):
    code: str = Field(description="Stable name of the error; docs/errors.md lists them.")
    message: str = Field(description="One sentence for people.")


class ErrorBody(BaseModel):
    error: ErrorDetail
