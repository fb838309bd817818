"""
A trace as pages show it: each step with its tokens in one ranked list.

Numbers stay numbers here; `templatetags.trace` writes them. Steps and ranks count from 1, as
people do, where the JSON answer counts from 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from inference.engine.types import Draw, Step
from inference.engine.vocabulary import Vocabulary
from inference.traces import Remainder, Trace, bits

# Tokens shown before a step's own, to say where in the text it stands.
CONTEXT_TOKENS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    token_id: int
    piece: bytes
    special: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A token that could have come, in its place by the model's own probability."""

    rank: int  # 1 is the most probable
    token: Token
    probability: float
    cumulative: float | None  # with every token above it; None where one above is not listed
    drawn: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnStep:
    number: int
    context: tuple[Token, ...]  # the last tokens before this step's
    context_cut: bool  # whether more tokens came before those
    drawn: Row
    rows: tuple[Row, ...]  # the drawn token and the alternatives, by rank
    remainder: Remainder
    surprisal_bits: float
    entropy_bits: float
    choices: float  # as many equally likely tokens would be as hard to foresee
    draw: Draw
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnTrace:
    trace: Trace
    prompt_tokens: tuple[Token, ...]
    steps: tuple[DrawnStep, ...]
    first_step_ms: float  # from arrival to the first token
    later_step_ms: float | None  # mean of the steps after the first; None where there are none

    @property
    def greedy(self) -> bool:
        return self.trace.request.temperature == 0

    @property
    def vocabulary_size(self) -> int:
        """How many tokens have a rank."""
        return len(self.trace.vocabulary.tokens)


def drawn_trace(trace: Trace) -> DrawnTrace:
    """Everything that a page shows of a trace."""
    first, *later = trace.steps
    later_ms = [trace.step_ms(step) for step in later]
    return DrawnTrace(
        trace=trace,
        prompt_tokens=tuple(_token(trace.vocabulary, token_id) for token_id in trace.prompt_ids),
        steps=tuple(_drawn_step(trace, step) for step in trace.steps),
        first_step_ms=trace.elapsed_ms(first),
        later_step_ms=math.fsum(later_ms) / len(later_ms) if later_ms else None,
    )


def _drawn_step(trace: Trace, step: Step) -> DrawnStep:
    before = [*trace.prompt_ids, *(earlier.token_id for earlier in trace.steps[: step.index])]
    rows = _rows(trace, step)
    entropy_bits = bits(step.entropy)
    return DrawnStep(
        number=step.index + 1,
        context=tuple(_token(trace.vocabulary, token_id) for token_id in before[-CONTEXT_TOKENS:]),
        context_cut=len(before) > CONTEXT_TOKENS,
        drawn=next(row for row in rows if row.drawn),
        rows=rows,
        remainder=trace.remainder(step),
        surprisal_bits=bits(-step.logprob),
        entropy_bits=entropy_bits,
        choices=2**entropy_bits,
        draw=step.draw,
        milliseconds=trace.step_ms(step),
    )


def _rows(trace: Trace, step: Step) -> tuple[Row, ...]:
    ranked = {candidate.token_id: rank for rank, candidate in enumerate(step.candidates)}
    listed = [(ranked[c.token_id], c.token_id, c.logprob) for c in trace.alternatives(step)]
    rows: list[Row] = []
    mass = 0.0
    for place, (rank, token_id, logprob) in enumerate(
        sorted([*listed, (step.rank, step.token_id, step.logprob)])
    ):
        probability = math.exp(logprob)
        mass += probability
        rows.append(
            Row(
                rank=rank + 1,
                token=_token(trace.vocabulary, token_id),
                probability=probability,
                cumulative=min(mass, 1.0) if rank == place else None,
                drawn=token_id == step.token_id,
            )
        )
    return tuple(rows)


def _token(vocabulary: Vocabulary, token_id: int) -> Token:
    return Token(
        token_id=token_id,
        piece=vocabulary.tokens[token_id],
        special=vocabulary.is_special(token_id),
    )
