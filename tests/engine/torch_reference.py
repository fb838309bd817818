"""What `selection` reads off a row of logits, said in torch and without care for time."""

from __future__ import annotations

import torch
from torch import Tensor

from inference.engine.types import SamplingParams

NEAR, NEAR_WIDTH = 0.9, 0.0075  # the bins of a tail: even up to NEAR, then growing


def logprobs_of(logits: Tensor) -> Tensor:
    """(V,) float64."""
    return logits.double().log_softmax(-1)


def entropy_of(logits: Tensor) -> float:
    logprobs = logprobs_of(logits)
    return float(-(logprobs.exp() * logprobs).sum())


def ranked(logits: Tensor) -> Tensor:
    return logits.argsort(descending=True, stable=True)


def tail_of(logits: Tensor, listable: int, listed: Tensor) -> list[tuple[int, float]]:
    """How many tokens that are not listed lie in each bin, and the mean of their logprobs."""
    drawable = logprobs_of(logits)[:listable]
    distance = drawable.max() - drawable
    near = distance / NEAR_WIDTH
    far = NEAR / NEAR_WIDTH + (distance / NEAR).clamp(min=1).log() * (NEAR / NEAR_WIDTH)
    place = torch.where(distance < NEAR, near, far).long()
    place[listed] = place.max() + 1
    counts = torch.bincount(place)[:-1].tolist()
    sums = torch.bincount(place, weights=drawable)[:-1].tolist()
    return [(n, total / n) for n, total in zip(counts, sums, strict=True) if n]


def interval_of(logits: Tensor, params: SamplingParams, token_id: int) -> tuple[float, float, int]:
    """Where a kept token's interval begins and ends, and how many tokens are kept."""
    order = ranked(logits)
    exact = logits.double()[order]
    weights = ((exact - exact[0]) / params.temperature).exp()
    kept = int((weights > 0).sum())
    if params.top_k:
        kept = min(kept, params.top_k)
    ends = weights[:kept].cumsum(-1)
    if params.top_p < 1:
        mass = ends[-1] if params.top_k else weights.sum()
        kept = min(kept, int((ends < params.top_p * mass).sum()) + 1)
    if params.min_p:
        kept = min(kept, int((weights[:kept] >= params.min_p * weights[0]).sum()))
    ends = weights[:kept].cumsum(-1) / weights[:kept].sum()
    place = int((order == token_id).nonzero())
    return float(ends[place - 1]) if place else 0.0, float(ends[place]), kept
