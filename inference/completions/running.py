"""The one way from planned requests to pieces of text, for both endpoints, streamed or not."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from inference.completions.reading import Reader
from inference.completions.values import Piece, Usage
from inference.completions.writing import ChoiceWriter
from inference.engine.types import Event, GenerationRequest, PromptScores
from inference.jobs import Events
from inference.line import Caller
from inference.runtime import Runtime


async def run(
    requests: Sequence[GenerationRequest],
    *,
    serving: Runtime,
    new_reader: Callable[[], Reader],
    echo: bool,
    max_waiting: int,
    deadline: float,
    caller: Caller | None = None,
) -> AsyncGenerator[Piece | Usage]:
    """The pieces of all choices as they are made, prompt after prompt; at the end, the usage.

    Choice c of prompt p has the number p * num_choices + c. Raises NotReady or Busy in place of
    the first piece; TimedOut, InferenceFailed or InvalidModelOutput in place of any. `deadline`
    is in monotonic seconds. Closing it frees the model at its next step.
    """
    waiting = deque(enumerate(requests))
    submitted: deque[tuple[int, GenerationRequest, Events[Event]]] = deque()
    completion_tokens = 0
    try:
        while waiting or submitted:
            while waiting and len(submitted) < serving.engine.max_batch:
                place, request = waiting.popleft()
                events = serving.submit(
                    request,
                    max_waiting=max_waiting,
                    deadline=deadline,
                    caller=caller,
                    keeps_place=place > 0,  # a batch that has begun is not refused in its middle
                )
                submitted.append((place, request, events))
            place, request, events = submitted[0]
            writers = [
                ChoiceWriter(
                    place * request.num_choices + choice, serving.engine.vocabulary, new_reader()
                )
                for choice in range(request.num_choices)
            ]
            async with aclosing(_pieces(events, request, writers, echo=echo)) as pieces:
                async for piece in pieces:
                    yield piece
            submitted.popleft()
            completion_tokens += sum(writer.drawn for writer in writers)
    finally:
        for _, _, events in submitted:
            await events.aclose()
    yield Usage(sum(len(request.prompt_ids) for request in requests), completion_tokens)


async def _pieces(
    events: Events[Event], request: GenerationRequest, writers: list[ChoiceWriter], *, echo: bool
) -> AsyncGenerator[Piece]:
    """The pieces of one prompt's choices."""
    echoed = not echo
    async with aclosing(events):
        async for event in events:
            if not echoed:
                echoed = True
                for writer in writers:
                    yield _echo(writer, request, event)
            if isinstance(event, PromptScores):
                continue
            writer = writers[event.choice]
            if writer.has_ended:
                continue
            piece = writer.push(event)
            if piece or writer.drawn == 1:  # that a first token is there is news in itself
                yield piece
            if piece.finish_reason is not None:
                events.finish_choice(event.choice)
                if all(writer.has_ended for writer in writers):
                    break
    for writer in writers:
        if not echoed:  # the model had nothing to say: no token was asked of it
            yield _echo(writer, request, None)
        if not writer.has_ended:
            yield writer.end("length")


def _echo(writer: ChoiceWriter, request: GenerationRequest, first: Event | None) -> Piece:
    """The prompt, with its scores where the first event brings them."""
    none = (None,) * len(request.prompt_ids)
    scores = first.scores if isinstance(first, PromptScores) else none
    return writer.echo(request.prompt_ids, scores)
