"""
What changes the logits before a token is drawn from them.

In this order, that of transformers where it has the same: bias, repetition penalty, presence and
frequency penalties, the mask of a grammar, the mask of end-of-sequence tokens. Temperature and
the cuts follow, in `sampling`. What is shown as the model's own is never taken from here.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from inference.engine.types import Constraint, GenerationRequest, Logits

NEVER = float("-inf")


class Processing:
    """The settings of one choice, and what it has drawn so far."""

    def __init__(self, request: GenerationRequest, eos_ids: frozenset[int]) -> None:
        self._params = request.sampling
        self._min_tokens = request.min_tokens
        self._eos_ids = np.array(sorted(eos_ids), np.int64)
        self._bias_ids = np.array(list(self._params.logit_bias), np.int64)
        self._bias = np.array(list(self._params.logit_bias.values()), np.float32)
        self._seen = set(request.prompt_ids)
        self._drawn: Counter[int] = Counter()
        self._constraint: Constraint | None = request.constraint() if request.constraint else None

    def accept(self, token_id: int) -> None:
        """Note that this token was drawn or given."""
        self._seen.add(token_id)
        self._drawn[token_id] += 1
        if self._constraint is not None:
            self._constraint.accept(token_id)

    def process(self, logits: Logits) -> Logits:
        """The logits to draw from, (V,); the row that is given stays as it is."""
        logits = logits.copy()
        logits[self._bias_ids] += self._bias
        self._penalise(logits)
        if self._constraint is not None:
            logits[~self._constraint.allowed()[: logits.size]] = NEVER
        if self._drawn.total() < self._min_tokens:
            without_end = logits.copy()
            without_end[self._eos_ids] = NEVER
            if self._constraint is None or without_end.max() > NEVER:
                return without_end  # a grammar that is at its end has nothing else to give
        return logits

    def _penalise(self, logits: Logits) -> None:
        """Lower what was said before.

        Repetition (Keskar et al. 2019, as transformers has it): a positive logit is divided by
        the penalty, a negative one multiplied. Presence and frequency (OpenAI's reference): a
        logit loses presence once, and frequency for each time that its token was drawn.
        """
        params = self._params
        if params.repetition_penalty != 1:
            ids = np.array(sorted(self._seen))
            seen = logits[ids]
            penalty = params.repetition_penalty
            logits[ids] = np.where(seen < 0, seen * penalty, seen / penalty)
        if self._drawn and (params.presence_penalty or params.frequency_penalty):
            ids = np.array(list(self._drawn))
            counts = np.array(list(self._drawn.values()), np.float32)
            logits[ids] -= params.presence_penalty + params.frequency_penalty * counts
