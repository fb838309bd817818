"""
From logits to a token. The maths of drawing is in this file and nowhere else.

Every function takes one row of logits, shape (V,), V the rows of the model's head, float32.
The settings apply in one order, that of transformers' warpers: temperature, top-k, top-p, min-p,
each on what the one before left. All of them keep a beginning of the ranked list, so the kept
tokens are a number: how long a beginning. mlx-lm, for one, filters before it scales, so the same
settings can differ there.

The draw is by inverse CDF: the kept tokens lie on an axis from 0 to 1, most probable first,
each as wide as its probability, and a uniform number says whose interval it hits. (Tokens past
the first 1,024 ranks lie in id order when nothing is cut, which spares a full sort.)
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from inference.engine.kernels import selection
from inference.engine.types import Draw, Logits, SamplingParams
from inference.errors import InferenceFailed

HEAD = 1024  # ranks, past which the axis goes on in id order
FEW = 128  # ranks that hold most draws and most nuclei: these are looked at first


class Uniform(Protocol):
    """A source of numbers that are uniform in [0, 1)."""

    def random(self) -> float: ...


def uniform_source(seed: int | None, choice: int = 0) -> np.random.Generator:
    """A choice's own source of uniform numbers; None seeds it from fresh entropy.

    PCG64's stream for a seed is fixed by numpy's compatibility policy, and takes all 63 bits
    of the seed, where torch's CPU generator reads only 32 of them.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(choice,))
    return np.random.Generator(np.random.PCG64(sequence))


def sample(logits: Logits, params: SamplingParams, uniform: Uniform) -> Draw:
    """Draw one token. A logit of -inf is never drawn.

    Raises InferenceFailed where every logit is -inf: a mask left nothing.
    """
    largest = float(logits.max())
    if largest == -math.inf:
        raise InferenceFailed("the settings leave no token that could be drawn")
    if params.temperature == 0:
        token_id = int(selection.most_probable(logits, 1)[0])
        return Draw(token_id=token_id, u=None, lower=0.0, upper=1.0, probability=1.0, kept=1)
    total, kept = selection.mass(logits, largest, params.temperature)
    if not _cuts(params):
        return _draw_from_all(logits, largest, params.temperature, total, kept, uniform.random())
    ranked, weights = _kept(logits, largest, total, params)
    cumulative = weights.cumsum()
    return _at(uniform.random(), ranked, cumulative / cumulative[-1], kept=ranked.size)


def given(logits: Logits, params: SamplingParams, token_id: int) -> Draw:
    """The draw of a token that was given: how probable and among how many, but no number."""
    largest = float(logits.max())
    if params.temperature == 0:
        share, kept = float(token_id == int(selection.most_probable(logits, 1)[0])), 1
    else:
        mass, kept = selection.mass(logits, largest, params.temperature)
        ids = np.array([token_id])
        if _cuts(params):
            ranked, weights = _kept(logits, largest, mass, params)
            ids, mass, kept = ranked[ranked == token_id], float(weights.sum()), ranked.size
        share = float(_weights(logits, ids, largest, params.temperature).sum()) / mass
    return Draw(token_id=token_id, u=None, lower=0.0, upper=share, probability=share, kept=kept)


def _weights(
    logits: Logits, ids: NDArray[np.int64], largest: float, temperature: float
) -> NDArray[np.float64]:
    """exp(logit / temperature) of some ids, the row's largest being 1; (n,) float64.

    In float64 and with the largest logit at 0, a temperature near 0 gives 0 and not NaN.
    """
    weights = np.empty(ids.size)
    selection.weigh(logits[ids], largest, temperature, weights)
    return weights


def _cuts(params: SamplingParams) -> bool:
    return params.top_k > 0 or params.top_p < 1 or params.min_p > 0


def _kept(
    logits: Logits, largest: float, total: float, params: SamplingParams
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The ids that the cuts keep, most probable first, and their weights.

    `total` is the mass of the whole row.
    """
    count = max(FEW, params.top_k + 1)
    while True:
        ranked = selection.most_probable(logits, count)
        weights = _weights(logits, ranked, largest, params.temperature)
        kept = _kept_of(weights, total, params)
        if kept < ranked.size or ranked.size == logits.size:
            return ranked[:kept], weights[:kept]
        count *= 8  # the cut lies past them


def _kept_of(ranked_weights: NDArray[np.float64], total: float, params: SamplingParams) -> int:
    """How many of the first tokens the cuts keep, at least one; all if the cut is not among them.

    Top-p keeps the fewest tokens that reach it, the crossing one included.
    """
    kept = int((ranked_weights > 0).sum())
    cumulative = ranked_weights.cumsum()
    if params.top_k:
        kept = min(kept, params.top_k)
        total = float(cumulative[kept - 1])
    if params.top_p < 1:
        kept = min(kept, int(np.searchsorted(cumulative[:kept], params.top_p * total)) + 1)
    if params.min_p:
        least = params.min_p * ranked_weights[0]
        kept = min(kept, int((ranked_weights[:kept] >= least).sum()))
    return kept


def _draw_from_all(
    logits: Logits, largest: float, temperature: float, total: float, kept: int, u: float
) -> Draw:
    for count in (FEW, HEAD):
        head = selection.most_probable(logits, count)
        cumulative = _weights(logits, head, largest, temperature).cumsum()
        ends = cumulative / total
        if u < ends[-1] or head.size == logits.size:
            return _at(u, head, ends, kept=kept)
    weights = np.empty(logits.size)
    selection.weigh(logits, largest, temperature, weights)
    weights[head] = 0.0
    ends = (cumulative[-1] + weights.cumsum()) / total
    return _at(u, np.arange(weights.size), ends, kept=kept, start=float(cumulative[-1] / total))


def _at(
    u: float,
    ids: NDArray[np.int64],
    ends: NDArray[np.float64],
    *,
    kept: int,
    start: float = 0.0,
) -> Draw:
    """The token whose interval holds u; `ends` are where the intervals of `ids` end."""
    place = int(np.searchsorted(ends, u, side="right"))
    upper = float(ends[place]) if place < ends.size else 1.0
    if place == ends.size:  # u within rounding of 1: the last token that has mass
        place = int(np.searchsorted(ends, ends[-1]))
    lower = float(ends[place - 1]) if place else start
    return Draw(
        token_id=int(ids[place]),
        u=u,
        lower=lower,
        upper=upper,
        probability=upper - lower,
        kept=kept,
    )
