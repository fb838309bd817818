"""
A trace: one prompt, what the model could have said at each step, and what it did say.

These are values. `services` makes them; the JSON answer, the page and the command show them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from inference.engine.types import Candidate, FinishReason, ModelCard, Step
from inference.engine.vocabulary import Vocabulary

NATS_PER_BIT = math.log(2)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRequest:
    """What a caller may ask of a trace; the bounds are the contract's, checked at the edge."""

    prompt: str
    max_new_tokens: int = 16
    top_k: int = 5  # alternatives listed; never limits the draw
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    forced_ids: tuple[int, ...] = ()  # what the completion begins with; they count as new tokens
    score_prompt: bool = False  # whether the prompt's own tokens are scored too
    with_tail: bool = False  # whether each step carries its whole distribution in short


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceBasis:
    """What is known of a trace before its first step; enough to read a step by."""

    request: TraceRequest
    model: ModelCard
    vocabulary: Vocabulary
    prompt_ids: tuple[int, ...]
    arrived_at: float  # monotonic seconds
    prompt_tokenisation_ms: float

    def alternatives(self, step: Step) -> tuple[Candidate, ...]:
        """The top_k most probable tokens other than the drawn one, most probable first."""
        others = [c for c in step.candidates if c.token_id != step.token_id]
        return tuple(others[: self.request.top_k])

    def step_ms(self, step: Step) -> float:
        return 1000 * (step.finished_at - step.started_at)

    def elapsed_ms(self, step: Step) -> float:
        return 1000 * (step.finished_at - self.arrived_at)

    def remainder(self, step: Step) -> Remainder:
        """What is neither drawn nor listed: its mass and its number of tokens."""
        listed = [step.logprob, *(c.logprob for c in self.alternatives(step))]
        mass = 1.0 - math.fsum(math.exp(logprob) for logprob in listed)
        return Remainder(mass=max(mass, 0.0), tokens=self.vocabulary.rows - len(listed))


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace(TraceBasis):
    """A finished trace. Times are milliseconds since the request arrived."""

    steps: tuple[Step, ...]
    generated_text: str  # without special tokens
    finish_reason: FinishReason
    total_trace_ms: float


@dataclass(frozen=True, slots=True)
class Remainder:
    mass: float
    tokens: int


def bits(nats: float) -> float:
    """Nats as bits; never below 0, where a logprob of the only token rounds above it."""
    return max(nats, 0.0) / NATS_PER_BIT
