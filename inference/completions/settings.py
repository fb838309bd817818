"""What one request of the OpenAI endpoints asks for, with every default filled in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from inference.engine.types import Constraint, SamplingParams

MAX_CHOICES = 8
MAX_CANDIDATES = 20
Prompt = str | tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionSettings:
    """How prompts are continued. The same for every prompt of a batch and every choice."""

    sampling: SamplingParams
    max_tokens: int  # new tokens of each choice; 0 with echo only
    min_tokens: int = 0
    ignore_eos: bool = False
    num_choices: int = 1
    stop: tuple[str, ...] = ()
    num_candidates: int | None = None  # tokens listed beside each; None: no logprobs at all
    echo: bool = False
    constraint: Callable[[], Constraint] | None = None
