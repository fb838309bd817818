"""What is known of a request once it has ended: times and counts, never text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    FINISHED = "finished"
    CANCELLED = "cancelled"  # the caller left, or its deadline passed
    FAILED = "failed"
    REFUSED = "refused"  # every place to wait was taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One request as the worker saw it. Times are seconds."""

    outcome: Outcome
    prompt_tokens: int
    reused_tokens: int  # of the prompt: read for an earlier request of the same owner
    completion_tokens: int  # over all choices
    queued_seconds: float  # from submission to the model
    first_token_seconds: float | None  # from submission; None where none was made
    total_seconds: float  # from submission to the end

    @property
    def seconds_a_token(self) -> float | None:
        """The mean time of a token after the first; None where there is none."""
        if self.first_token_seconds is None or self.completion_tokens < 2:
            return None
        return (self.total_seconds - self.first_token_seconds) / (self.completion_tokens - 1)


Observer = Callable[[Report], None]


def unobserved(report: Report) -> None:
    """An observer that looks away."""
