"""
What the model itself said at one position, before any setting: logprobs, ranks, entropy.

One row of raw logits, shape (V,), float32; V is every row of the model's head. Normalisers and
entropy are summed in float64, so that a row of 150,000 keeps its last digits.
"""

from __future__ import annotations

import torch
from torch import Tensor

from inference.engine.sampling import most_probable
from inference.engine.types import Candidate
from inference.errors import InferenceFailed


class RowStatistics:
    """The statistics of one row.

    `listable` is how many ids have a token: a head can have more rows than the tokenizer has
    tokens. Such rows keep their share of the mass, but are never ranked nor listed.

    Raises InferenceFailed where a logit is not a finite number.
    """

    def __init__(self, logits: Tensor, *, listable: int) -> None:
        if not torch.isfinite(logits).all():
            raise InferenceFailed("the model gave a number that is not finite")
        self._tokens = logits[:listable]
        exact = logits.double()
        self._normaliser = exact.logsumexp(-1)
        logprobs = exact - self._normaliser  # (V,)
        self.entropy = float(-(logprobs.exp() * logprobs).sum())  # nats

    def logprob(self, token_id: int) -> float:
        return float(self._tokens[token_id].double() - self._normaliser)

    def rank(self, token_id: int) -> int:
        """How many tokens come before this one: higher logits, and equal ones of lower id."""
        logit = self._tokens[token_id]
        return int((self._tokens > logit).sum() + (self._tokens[:token_id] == logit).sum())

    def candidates(self, count: int) -> tuple[Candidate, ...]:
        """The `count` most probable tokens, most probable first, equal ones by id."""
        if count == 0:
            return ()
        ids = most_probable(self._tokens, count)
        logprobs = self._tokens[ids].double() - self._normaliser
        return tuple(map(Candidate, ids.tolist(), logprobs.tolist()))
