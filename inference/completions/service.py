"""The verb of both generation endpoints: check and plan, then run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence

from inference.completions.planning import encode, plan
from inference.completions.reading import Reader
from inference.completions.running import run
from inference.completions.settings import CompletionSettings, Prompt
from inference.completions.values import Piece, Usage
from inference.limits import Limits
from inference.line import Caller
from inference.runtime import Runtime


async def complete(
    prompts: Sequence[Prompt],
    settings: CompletionSettings,
    *,
    serving: Runtime,
    limits: Limits,
    arrived_at: float,
    caller: Caller | None = None,
    new_reader: Callable[[], Reader] | None = None,
) -> AsyncGenerator[Piece | Usage]:
    """Check everything, and return the pieces to come; close them to give up the rest.

    `arrived_at` is when the request came, in monotonic seconds. Raises Rejected, ContextFull or
    NotReady here; the pieces raise Busy in place of the first, and TimedOut, InferenceFailed or
    InvalidModelOutput in place of any. `new_reader` makes what reads one choice's text.
    """
    engine = serving.engine
    requests = plan(
        [await encode(prompt, engine) for prompt in prompts],
        settings,
        vocabulary=engine.vocabulary,
        context_length=serving.card.max_model_len,
        limits=limits,
    )
    return run(
        requests,
        serving=serving,
        new_reader=new_reader or (lambda: Reader(settings.stop)),
        echo=settings.echo,
        max_waiting=limits.max_waiting,
        deadline=arrived_at + limits.deadline_seconds,
        caller=caller,
    )
