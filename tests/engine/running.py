"""Running an engine to its end without a runtime."""

from __future__ import annotations

from typing import Any

from inference.engine.engine import Engine
from inference.engine.types import Event, GenerationRequest, SamplingParams, Step


def request_for(engine: Engine, prompt: str, **fields: Any) -> GenerationRequest:
    """A greedy request for 12 tokens; a field that SamplingParams has goes there."""
    sampling = {name: fields.pop(name) for name in list(fields) if name in SamplingParams.__slots__}
    defaults: dict[str, Any] = {"max_tokens": 12, "num_candidates": 5}
    return GenerationRequest(
        prompt_ids=tuple(engine.encode(prompt)),
        sampling=SamplingParams(**{"temperature": 0.0} | sampling),
        **defaults | fields,
    )


def events_of(engine: Engine, request: GenerationRequest) -> list[Event]:
    generation = engine.open(request)
    events: list[Event] = []
    while not generation.has_ended:
        (outcome,) = engine.turn([generation])
        if isinstance(outcome, Exception):
            raise outcome
        events += outcome
    return events


def run(engine: Engine, prompt: str, **fields: Any) -> list[Step]:
    events = events_of(engine, request_for(engine, prompt, **fields))
    return [event for event in events if isinstance(event, Step)]


class Always:
    """A source of uniform numbers that gives the same one each time."""

    def __init__(self, u: float) -> None:
        self._u = u

    def random(self) -> float:
        return self._u
