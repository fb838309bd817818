"""A stored trace as pages show it, made from the JSON alone: no model and no vocabulary."""

from __future__ import annotations

from dataclasses import dataclass

from inference.engine.types import Draw, FinishReason, ModelCard
from inference.traces import Remainder, TraceRequest
from traceapp.drawing import (
    DrawnStep,
    DrawnTrace,
    Token,
    mean_after_first,
    ranked_rows,
    with_context,
)
from traceapp.sharing.store import Stored
from traceapp.wire.sharing import REPLACEMENT
from traceapp.wire.traces import Analysis, TraceStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Retold:
    """What the page says of the trace as a whole."""

    model: ModelCard
    request: TraceRequest
    generated_text: str
    finish_reason: FinishReason
    prompt_tokenisation_ms: float
    total_trace_ms: float


def redrawn(stored: Stored) -> DrawnTrace:
    """Everything that a page shows of a stored trace."""
    trace, special = stored.trace, frozenset(stored.provenance.special_ids)
    prompt_tokens = _prompt_tokens(stored, special)
    drawn = [_drawn(step, special) for step in trace.steps]
    return DrawnTrace(
        trace=_retold(stored),
        prompt_tokens=prompt_tokens,
        steps=tuple(
            _drawn_step(step, special, before=(*prompt_tokens, *drawn[:place]))
            for place, step in enumerate(trace.steps)
        ),
        first_step_ms=trace.timing.first_step_ms,
        later_step_ms=mean_after_first([step.step_ms for step in trace.steps]),
        vocabulary_size=stored.provenance.vocabulary,
    )


def _retold(stored: Stored) -> Retold:
    trace, made = stored.trace, stored.provenance
    return Retold(
        model=ModelCard(
            alias=trace.model.alias,
            served_name=trace.model.alias,
            repository=trace.model.repository,
            revision=trace.model.revision,
            source=made.source,
            dtype=made.dtype,
            sha256=made.sha256,
            max_model_len=0,  # no page shows it
            engine=made.engine,
            created=int(made.made_at.timestamp()),
        ),
        request=TraceRequest(
            prompt=trace.prompt,
            max_new_tokens=made.max_new_tokens,
            top_k=made.top_k,
            temperature=trace.decoding.temperature,
            top_p=trace.decoding.top_p,
            seed=trace.decoding.seed,
        ),
        generated_text=trace.generated_text,
        finish_reason=FinishReason(trace.finish_reason),
        prompt_tokenisation_ms=trace.timing.prompt_tokenisation_ms,
        total_trace_ms=trace.timing.total_trace_ms,
    )


def _prompt_tokens(stored: Stored, special: frozenset[int]) -> tuple[Token, ...]:
    """The prompt's tokens; those that are only part of a character with their true bytes."""
    broken = iter(stored.provenance.prompt_bytes)
    tokens = []
    for item in stored.trace.prompt_tokens:
        piece = item.token.encode()
        if REPLACEMENT in item.token:
            piece = bytes.fromhex(next(broken))
        tokens.append(Token(token_id=item.token_id, piece=piece, special=item.token_id in special))
    return tuple(tokens)


def _drawn(step: TraceStep, special: frozenset[int]) -> Token:
    return Token(
        token_id=step.selected_token_id,
        piece=bytes(_analysis(step).selected_bytes),
        special=step.selected_token_id in special,
    )


def _drawn_step(
    step: TraceStep, special: frozenset[int], *, before: tuple[Token, ...]
) -> DrawnStep:
    analysis = _analysis(step)
    rows = ranked_rows(_listed(step, special), drawn_rank=analysis.selected_rank)
    context, context_cut = with_context(before)
    draw = analysis.draw
    return DrawnStep(
        number=step.step + 1,
        context=context,
        context_cut=context_cut,
        drawn=next(row for row in rows if row.drawn),
        rows=rows,
        remainder=Remainder(mass=analysis.remainder.mass, tokens=analysis.remainder.tokens),
        surprisal_bits=analysis.surprisal_bits,
        entropy_bits=analysis.entropy_bits,
        choices=2**analysis.entropy_bits,
        draw=Draw(
            token_id=step.selected_token_id,
            u=draw.u if draw else None,
            lower=draw.lower if draw else 0.0,
            upper=draw.upper if draw else 1.0,
            probability=analysis.sampling_probability,
            kept=analysis.nucleus_size,
        ),
        forced=analysis.forced,
        milliseconds=step.step_ms,
    )


def _listed(step: TraceStep, special: frozenset[int]) -> list[tuple[int, Token, float]]:
    """Rank, token and probability of what is listed, the drawn token among it."""
    analysis = _analysis(step)
    listed = [(analysis.selected_rank, _drawn(step, special), step.selected_probability)]
    for place, (item, piece) in enumerate(
        zip(step.alternatives, analysis.alternative_bytes, strict=True)
    ):
        # The alternatives are the most probable tokens but for the drawn one.
        rank = place if place < analysis.selected_rank else place + 1
        token = Token(token_id=item.token_id, piece=bytes(piece), special=item.token_id in special)
        listed.append((rank, token, item.probability))
    return listed


def _analysis(step: TraceStep) -> Analysis:
    if step.analysis is None:  # no receipt is given for a trace without it
        raise ValueError("a stored trace has no analysis")
    return step.analysis
