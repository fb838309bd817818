"""
A trace as pages show it: each step with its tokens in one ranked list.

Numbers stay numbers here; `templatetags.trace` writes them. Steps and ranks count from 1, as
people do, where the JSON answer counts from 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Protocol

from inference.engine.types import Draw, FinishReason, ModelCard, Step
from inference.engine.vocabulary import Vocabulary
from inference.traces import Remainder, Trace, TraceRequest, bits

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
    forced: bool  # whether the token was given and not drawn
    milliseconds: float


class TraceFacts(Protocol):
    """What a page says of a trace as a whole; a `Trace` has it, and so has one that was stored."""

    @property
    def model(self) -> ModelCard: ...
    @property
    def request(self) -> TraceRequest: ...
    @property
    def generated_text(self) -> str: ...
    @property
    def finish_reason(self) -> FinishReason: ...
    @property
    def prompt_tokenisation_ms(self) -> float: ...
    @property
    def total_trace_ms(self) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnTrace:
    trace: TraceFacts
    prompt_tokens: tuple[Token, ...]
    steps: tuple[DrawnStep, ...]
    first_step_ms: float  # from arrival to the first token
    later_step_ms: float | None  # mean of the steps after the first; None where there are none
    vocabulary_size: int  # how many tokens have a rank

    @property
    def greedy(self) -> bool:
        return self.trace.request.temperature == 0


def drawn_trace(trace: Trace) -> DrawnTrace:
    """Everything that a page shows of a trace."""
    return DrawnTrace(
        trace=trace,
        prompt_tokens=tuple(_token(trace.vocabulary, token_id) for token_id in trace.prompt_ids),
        steps=tuple(_drawn_step(trace, step) for step in trace.steps),
        first_step_ms=trace.elapsed_ms(trace.steps[0]),
        later_step_ms=mean_after_first([trace.step_ms(step) for step in trace.steps]),
        vocabulary_size=len(trace.vocabulary.tokens),
    )


def mean_after_first(milliseconds: Sequence[float]) -> float | None:
    """How long a step took that had no prompt to read; None where there was but one."""
    later = milliseconds[1:]
    return math.fsum(later) / len(later) if later else None


def with_context(before: Sequence[Token]) -> tuple[tuple[Token, ...], bool]:
    """The last of the tokens before a step, and whether more came before those."""
    return tuple(before[-CONTEXT_TOKENS:]), len(before) > CONTEXT_TOKENS


def ranked_rows(listed: Sequence[tuple[int, Token, float]], *, drawn_rank: int) -> tuple[Row, ...]:
    """Rank (0 is the most probable), token and probability of each, as rows by rank."""
    rows: list[Row] = []
    mass = 0.0
    for place, (rank, token, probability) in enumerate(sorted(listed, key=itemgetter(0))):
        mass += probability
        rows.append(
            Row(
                rank=rank + 1,
                token=token,
                probability=probability,
                cumulative=min(mass, 1.0) if rank == place else None,
                drawn=rank == drawn_rank,
            )
        )
    return tuple(rows)


def _drawn_step(trace: Trace, step: Step) -> DrawnStep:
    before = [*trace.prompt_ids, *(earlier.token_id for earlier in trace.steps[: step.index])]
    # One token more than is shown says whether there are more.
    nearest = before[-CONTEXT_TOKENS - 1 :]
    context, context_cut = with_context([_token(trace.vocabulary, i) for i in nearest])
    rows = _rows(trace, step)
    entropy_bits = bits(step.entropy)
    return DrawnStep(
        number=step.index + 1,
        context=context,
        context_cut=context_cut,
        drawn=next(row for row in rows if row.drawn),
        rows=rows,
        remainder=trace.remainder(step),
        surprisal_bits=bits(-step.logprob),
        entropy_bits=entropy_bits,
        choices=2**entropy_bits,
        draw=step.draw,
        forced=step.forced,
        milliseconds=trace.step_ms(step),
    )


def _rows(trace: Trace, step: Step) -> tuple[Row, ...]:
    ranks = {candidate.token_id: rank for rank, candidate in enumerate(step.candidates)}
    others = [(ranks[c.token_id], c.token_id, c.logprob) for c in trace.alternatives(step)]
    listed = [
        (rank, _token(trace.vocabulary, token_id), math.exp(logprob))
        for rank, token_id, logprob in (*others, (step.rank, step.token_id, step.logprob))
    ]
    return ranked_rows(listed, drawn_rank=step.rank)


def _token(vocabulary: Vocabulary, token_id: int) -> Token:
    return Token(
        token_id=token_id,
        piece=vocabulary.tokens[token_id],
        special=vocabulary.is_special(token_id),
    )
