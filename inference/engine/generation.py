"""
One sequence being continued: what is read, what is drawn, when it ends.

Knows nothing of the model: it takes a row of logits at a time and gives a `Step`. Whoever drives
it reads `unread` (prompt tokens to prefill) and `last_id` (the drawn token to decode next).
"""

from __future__ import annotations

import time
from typing import Any

from torch import Tensor

from inference.engine.sampling import sample, uniform_source
from inference.engine.statistics import RowStatistics
from inference.engine.types import FinishReason, GenerationRequest, Step
from inference.engine.vocabulary import Vocabulary


class Generation:
    """The state of one sequence."""

    def __init__(self, request: GenerationRequest, vocabulary: Vocabulary, context: Any) -> None:
        self.context = context
        self.unread = request.prompt_ids  # prompt tokens that the model has not read yet
        self.last_id = -1  # the token drawn last; of no meaning before the first step
        self._request = request
        self._vocabulary = vocabulary
        self._uniform = uniform_source(request.sampling.seed)
        self._drawn = 0
        self._started_at: float | None = None

    def begin_turn(self) -> None:
        """Start the clock of the next step; further parts of a long prompt leave it running."""
        if self._started_at is None:
            self._started_at = time.monotonic()

    def advance(self, logits: Tensor) -> Step:
        """Draw the next token from the logits that follow what was read, (V,) float32.

        Raises InferenceFailed where the logits are not finite.
        """
        listable = len(self._vocabulary.tokens)
        statistics = RowStatistics(logits, listable=listable)
        draw = sample(logits[:listable], self._request.sampling, self._uniform)
        self.last_id = draw.token_id
        self._drawn += 1
        started_at, self._started_at = self._started_at, None
        now = time.monotonic()
        return Step(
            index=self._drawn - 1,
            token_id=draw.token_id,
            logprob=statistics.logprob(draw.token_id),
            rank=statistics.rank(draw.token_id),
            candidates=statistics.candidates(self._request.num_candidates),
            entropy=statistics.entropy,
            draw=draw,
            started_at=now if started_at is None else started_at,
            finished_at=now,
            finish_reason=self._finish_reason(draw.token_id),
        )

    def _finish_reason(self, token_id: int) -> FinishReason | None:
        if token_id in self._vocabulary.eos_ids:
            return FinishReason.EOS
        if self._drawn == self._request.max_tokens:
            return FinishReason.LENGTH
        return None
