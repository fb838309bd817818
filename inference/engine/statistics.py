"""
What the model itself said at one position, before any setting: logprobs, ranks, entropy.

One row of raw logits, shape (V,), float32; V is every row of the model's head. Normalisers and
entropy are summed in float64, so that a row of 150,000 keeps its last digits.
"""

from __future__ import annotations

import torch
from torch import Tensor

from inference.engine.sampling import most_probable
from inference.engine.types import Candidate, Score, Tail
from inference.errors import InferenceFailed

NEVER = float("-inf")
# Tokens that a Tail lists one by one, and the widths of its bins in nats: even up to NEAR below
# the most probable token, then growing with the distance. See RowStatistics.tail.
TAIL_HEAD = 50
NEAR = 0.9
NEAR_WIDTH = 0.0075


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
        self._all_logprobs = exact - self._normaliser  # (V,)
        self.entropy = float(-(self._all_logprobs.exp() * self._all_logprobs).sum())  # nats

    def score(self, token_id: int, *, num_candidates: int) -> Score:
        """What the model said of this token, with the most probable ones beside it."""
        logit = self._tokens[token_id]
        # Before it come higher logits, and equal ones of lower id.
        rank = (self._tokens > logit).sum() + (self._tokens[:token_id] == logit).sum()
        return Score(
            token_id=token_id,
            logprob=float(logit.double() - self._normaliser),
            rank=int(rank),
            entropy=self.entropy,
            candidates=self.candidates(num_candidates),
        )

    def candidates(self, count: int) -> tuple[Candidate, ...]:
        """The `count` most probable tokens, most probable first, equal ones by id."""
        if count == 0:
            return ()
        ids = most_probable(self._tokens, count)
        logprobs = self._tokens[ids].double() - self._normaliser
        return tuple(map(Candidate, ids.tolist(), logprobs.tolist()))

    def tail(self) -> Tail:
        """The distribution in short, for reshaping it at any temperature from 0.05 up.

        Only of ids that have a token: no other is ever drawn, so what is reshaped must leave the
        others out of its normaliser.

        A bin of n tokens with mean logprob m stands for n * exp(m / T). Its relative error is
        (width / T)^2 / 24, so a bin may be as wide as its distance d from the top allows: what
        lies there matters only at T > d / 18, where 150,000 tokens reach a thousandth.
        """
        head = self.candidates(TAIL_HEAD)
        listed = torch.tensor([candidate.token_id for candidate in head])
        drawable = self._all_logprobs[: self._tokens.numel()]
        logprobs = drawable.index_fill(0, listed, NEVER)
        rest = logprobs[logprobs > NEVER]
        if not rest.numel():
            return Tail(head, ())
        distance = drawable.max() - rest
        # Even widths near the top, then widths in proportion to the distance.
        near = distance / NEAR_WIDTH
        far = NEAR / NEAR_WIDTH + (distance / NEAR).clamp(min=1).log() * (NEAR / NEAR_WIDTH)
        place = torch.where(distance < NEAR, near, far).long()
        counts = torch.bincount(place)
        sums = torch.bincount(place, weights=rest)
        bins = [
            (count, total / count)
            for count, total in zip(counts.tolist(), sums.tolist(), strict=True)
            if count
        ]
        return Tail(head, tuple(bins))
