"""
What the model itself said at one position, before any setting: logprobs, ranks, entropy.

One row of raw logits, shape (V,), float32; V is every row of the model's head. Normalisers and
entropy are summed in float64, so that a row of 150,000 keeps its last digits.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from inference.engine.kernels import selection
from inference.engine.types import Candidate, Logits, Score, Tail
from inference.errors import InferenceFailed

TAIL_HEAD = 50  # tokens that a Tail lists one by one


class RowStatistics:
    """The statistics of one row.

    `listable` is how many ids have a token: a head can have more rows than the tokenizer has
    tokens. Such rows keep their share of the mass, but are never ranked nor listed.

    Raises InferenceFailed where a logit is not a finite number.
    """

    def __init__(self, logits: Logits, *, listable: int) -> None:
        if selection.not_finite(logits):
            raise InferenceFailed("the model gave a number that is not finite")
        self._tokens = logits[:listable]
        largest = float(logits.max())
        total, weighted = selection.moments(logits, largest)
        self._normaliser = largest + math.log(total)
        self.entropy = math.log(total) - weighted / total  # nats

    def score(self, token_id: int, *, num_candidates: int) -> Score:
        """What the model said of this token, with the most probable ones beside it."""
        return Score(
            token_id=token_id,
            logprob=float(self._tokens[token_id]) - self._normaliser,
            rank=selection.rank_of(self._tokens, token_id),
            entropy=self.entropy,
            candidates=self.candidates(num_candidates),
        )

    def candidates(self, count: int) -> tuple[Candidate, ...]:
        """The `count` most probable tokens, most probable first, equal ones by id."""
        return self._listed(selection.most_probable(self._tokens, count)) if count else ()

    def _listed(self, ids: NDArray[np.int64]) -> tuple[Candidate, ...]:
        logprobs = self._tokens[ids].astype(np.float64) - self._normaliser
        return tuple(map(Candidate, ids.tolist(), logprobs.tolist()))

    def tail(self) -> Tail:
        """The distribution in short, for reshaping it at any temperature from 0.05 up.

        Only of ids that have a token: no other is ever drawn, so what is reshaped must leave the
        others out of its normaliser.

        A bin of n tokens with mean logprob m stands for n * exp(m / T). Its relative error is
        (width / T)^2 / 24, so a bin may be as wide as its distance d from the top allows: what
        lies there matters only at T > d / 18, where 150,000 tokens reach a thousandth.
        """
        head = selection.most_probable(self._tokens, TAIL_HEAD)
        bins = selection.bins_below(self._tokens, head)
        return Tail(
            self._listed(head), tuple((count, mean - self._normaliser) for count, mean in bins)
        )
