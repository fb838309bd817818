"""A trace as lines of text, with bars."""

from __future__ import annotations

import math
from collections.abc import Iterator

from inference.engine.types import Step
from inference.traces import Trace, bits
from traceapp.templatetags.trace import percent, token_label

BAR = 30  # characters for 100 %


def lines_of(trace: Trace) -> Iterator[str]:
    model = trace.model
    yield f"{model.alias} at {model.revision[:12]}: {len(trace.prompt_ids)} prompt tokens"
    for step in trace.steps:
        yield ""
        yield (
            f"step {step.index}: {_label(trace, step.token_id)}  rank {step.rank}, "
            f"surprisal {bits(-step.logprob):.2f} bits, {trace.step_ms(step):.0f} ms"
        )
        yield from _rows(trace, step)
    yield ""
    yield f"text: {trace.generated_text!r}"
    yield f"ended by {trace.finish_reason} after {trace.total_trace_ms:.0f} ms"


def _rows(trace: Trace, step: Step) -> Iterator[str]:
    others = [(c.logprob, c.token_id) for c in trace.alternatives(step)]
    for logprob, token_id in sorted([*others, (step.logprob, step.token_id)], reverse=True):
        probability = math.exp(logprob)
        mark = ">" if token_id == step.token_id else " "
        bar = "█" * round(BAR * probability)
        yield f" {mark} {_label(trace, token_id):24} {percent(probability):>9} {bar}"
    rest = trace.remainder(step)
    yield f"   {rest.tokens} other tokens        {percent(rest.mass):>9}"


def _label(trace: Trace, token_id: int) -> str:
    return token_label(trace.vocabulary.tokens[token_id])
