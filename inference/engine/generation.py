"""
One request being run: its prompt, then its choices, step by step.

Knows nothing of the model: a choice takes a row of logits at a time and gives a `Step`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from inference.engine.processing import Processing
from inference.engine.prompt import Prompt
from inference.engine.sampling import given, sample, uniform_source
from inference.engine.statistics import RowStatistics
from inference.engine.types import FinishReason, GenerationRequest, Logits, Step
from inference.engine.vocabulary import Vocabulary


class Generation:
    """A prompt that is read once, and the choices that go on from it."""

    def __init__(self, request: GenerationRequest, vocabulary: Vocabulary, prompt: Prompt) -> None:
        self.request = request
        self.prompt = prompt
        self.choices = [Choice(i, request, vocabulary) for i in range(request.num_choices)]

    @property
    def has_begun(self) -> bool:
        """Whether the prompt is read and the choices have a context of their own."""
        return self.choices[0].context is not None

    @property
    def has_ended(self) -> bool:
        return self.has_begun and not self.live

    def end(self, choices: Iterable[int]) -> None:
        """Draw no more for these choices; whoever reads them has enough."""
        for index in choices:
            self.choices[index].has_ended = True

    @property
    def live(self) -> list[Choice]:
        """The choices that have not come to their end."""
        return [choice for choice in self.choices if not choice.has_ended]


class Choice:
    """One completion in the making."""

    def __init__(self, index: int, request: GenerationRequest, vocabulary: Vocabulary) -> None:
        self.context: Any = None  # set once the prompt is read
        self.last_id = -1  # the token drawn last: the one to read next
        self.has_ended = request.max_tokens == 0
        self.rows: list[Logits] = []  # (V,) each: the logits taken, where the request has an owner
        self.token_ids: list[int] = []
        self._index = index
        self._request = request
        self._vocabulary = vocabulary
        self._processing = Processing(request, vocabulary.eos_ids)
        self._uniform = uniform_source(request.sampling.seed, index)
        self._started_at: float | None = None

    def begin_turn(self) -> None:
        """Start the clock of the next step; further parts of a long prompt leave it running."""
        if self._started_at is None:
            self._started_at = time.monotonic()

    def advance(self, logits: Logits) -> Step:
        """Take the next token from the logits that follow what was read, (V,) float32.

        Raises InferenceFailed where the logits are not finite.
        """
        request, listable = self._request, len(self._vocabulary.tokens)
        index = len(self.token_ids)
        statistics = RowStatistics(logits, listable=listable)
        forced = index < len(request.forced_ids)
        processed = self._processing.process(logits[:listable])
        if forced:
            draw = given(processed, request.sampling, request.forced_ids[index])
        else:
            draw = sample(processed, request.sampling, self._uniform)
        score = statistics.score(draw.token_id, num_candidates=request.num_candidates)
        self._processing.accept(draw.token_id)
        self.last_id = draw.token_id
        self.token_ids.append(draw.token_id)
        if request.owner is not None:
            self.rows.append(logits)
        finish_reason = self._finish_reason(draw.token_id)
        self.has_ended = finish_reason is not None
        now = time.monotonic()
        started_at, self._started_at = self._started_at, None
        return Step(
            choice=self._index,
            index=index,
            score=score,
            draw=draw,
            forced=forced,
            tail=statistics.tail() if request.with_tail else None,
            started_at=now if started_at is None else started_at,
            finished_at=now,
            finish_reason=finish_reason,
        )

    def _finish_reason(self, token_id: int) -> FinishReason | None:
        ends = self._vocabulary.eos_ids if not self._request.ignore_eos else frozenset()
        if token_id in ends or token_id in self._request.stop_ids:
            return FinishReason.EOS
        if len(self.token_ids) == self._request.max_tokens:
            return FinishReason.LENGTH
        return None
