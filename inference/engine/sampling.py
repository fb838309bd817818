"""
From logits to a token. The maths of drawing is in this file and nowhere else.

Every function takes one row of logits, shape (V,), V the rows of the model's head, float32.
The settings apply in one order: temperature, then top-p. Both only cut or reshape the ranked
list, so the kept tokens are always a beginning of it. transformers' `TemperatureLogitsWarper`
and `TopPLogitsWarper` are the reference; mlx-lm, for one, filters before it scales, so the
same settings can differ there.

The draw is by inverse CDF: the kept tokens lie on an axis from 0 to 1, most probable first,
each as wide as its probability, and a uniform number says whose interval it hits. (Tokens past
the first 1,024 ranks lie in id order when nothing is cut, which spares a full sort.)
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from inference.engine.types import Draw, SamplingParams

# Enough to hold the nucleus of nearly every step; one partial sort finds it.
HEAD = 1024


def uniform_source(seed: int | None) -> np.random.Generator:
    """A request's own source of uniform numbers; None seeds it from fresh entropy.

    PCG64's stream for a seed is fixed by numpy's compatibility policy, and takes all 63 bits
    of the seed, where torch's CPU generator reads only 32 of them.
    """
    return np.random.Generator(np.random.PCG64(seed))


def most_probable(logits: Tensor, count: int) -> Tensor:
    """The ids of the `count` largest logits, largest first, equal ones by id; int64 (count,)."""
    if count >= logits.numel():
        return logits.argsort(descending=True, stable=True)
    least = logits.topk(count, sorted=False).values.min()
    ids = (logits >= least).nonzero().squeeze(-1)  # ascending, so that a stable sort keeps ids
    return ids[logits[ids].argsort(descending=True, stable=True)][:count]


def sample(logits: Tensor, params: SamplingParams, uniform: np.random.Generator) -> Draw:
    """Draw one token. A logit of -inf is never drawn; at least one must be finite."""
    if params.temperature == 0:
        return _greedy(logits)
    # float64 and the largest at 0, so that a temperature near 0 gives 0 and not NaN.
    scaled = (logits.double() - logits.max().double()) / params.temperature  # (V,), at most 0
    weights = scaled.exp()  # (V,)
    head = most_probable(logits, HEAD)
    cumulative = weights[head].cumsum(-1)  # (HEAD,)
    if params.top_p < 1:
        return _draw_from_nucleus(weights, head, cumulative, params.top_p, uniform.random())
    return _draw_from_all(weights, head, cumulative, uniform.random())


def _greedy(logits: Tensor) -> Draw:
    token_id = int(most_probable(logits, 1)[0])
    return Draw(token_id=token_id, u=None, lower=0.0, upper=1.0, probability=1.0, kept=1)


def _draw_from_nucleus(
    weights: Tensor, head: Tensor, cumulative: Tensor, top_p: float, u: float
) -> Draw:
    """Draw from the fewest tokens whose probabilities reach top_p, the crossing one included."""
    mass = top_p * weights.sum()
    if cumulative[-1] < mass:  # a flat row: the nucleus is longer than the head
        head = weights.argsort(descending=True, stable=True)
        cumulative = weights[head].cumsum(-1)
    # Sums in two orders can differ in the last bit, hence the bound.
    kept = min(int(torch.searchsorted(cumulative, mass)) + 1, cumulative.numel())
    ends = cumulative[:kept] / cumulative[kept - 1]
    return _at(u, head, ends, kept=kept)


def _draw_from_all(weights: Tensor, head: Tensor, cumulative: Tensor, u: float) -> Draw:
    rest = weights.index_fill(0, head, 0.0)
    head_mass = float(cumulative[-1])
    total = head_mass + float(rest.sum())
    kept = int((weights > 0).sum())
    ends = cumulative / total
    if u < ends[-1]:
        return _at(u, head, ends, kept=kept)
    start = float(ends[-1])
    ends = (head_mass + rest.cumsum(-1)) / total
    return _at(u, torch.arange(weights.numel()), ends, kept=kept, start=start)


def _at(u: float, ids: Tensor, ends: Tensor, *, kept: int, start: float = 0.0) -> Draw:
    """The token whose interval holds u; `ends` are where the intervals of `ids` end."""
    place = int(torch.searchsorted(ends, u, right=True))
    if place == ends.numel():  # u within rounding of 1: the last token that has mass
        place = int(torch.searchsorted(ends, ends[-1]))
        ends = ends.index_fill(0, torch.tensor(place), 1.0)
    lower = float(ends[place - 1]) if place else start
    upper = float(ends[place])
    return Draw(
        token_id=int(ids[place]),
        u=u,
        lower=lower,
        upper=upper,
        probability=upper - lower,
        kept=kept,
    )
