"""The kernels that read a row of logits, against torch on the same row."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from inference.engine.kernels import selection
from inference.engine.sampling import sample
from inference.engine.statistics import TAIL_HEAD, RowStatistics
from inference.engine.types import SamplingParams
from tests.engine import torch_reference

NEVER = float("-inf")


def row_of(size: int, *, spread: float, ties: bool = False) -> torch.Tensor:
    logits = torch.randn(size, generator=torch.Generator().manual_seed(size)) * spread
    return (logits * 4).round() / 4 if ties else logits


ROWS = [
    row_of(1, spread=1),
    row_of(31, spread=3),
    row_of(271, spread=2, ties=True),
    row_of(5000, spread=0),  # all equal
    row_of(5000, spread=40),
    row_of(49_152, spread=1, ties=True),
    row_of(151_936, spread=3),
    row_of(151_936, spread=3) - 500,
]


@pytest.mark.parametrize("logits", ROWS)
def test_logprobs_entropy_and_rank_are_those_of_a_float64_softmax(logits):
    listable = max(1, logits.numel() - 7)
    statistics = RowStatistics(logits.numpy(), listable=listable)
    order = torch_reference.ranked(logits[:listable])
    expected = torch_reference.logprobs_of(logits)
    assert statistics.entropy == pytest.approx(torch_reference.entropy_of(logits), abs=1e-11)
    for place in {0, listable // 3, listable - 1}:
        score = statistics.score(int(order[place]), num_candidates=10)
        assert score.rank == place
        assert score.logprob == pytest.approx(float(expected[order[place]]), abs=1e-11)
        assert [each.token_id for each in score.candidates] == order[:10].tolist()
        assert [each.logprob for each in score.candidates] == pytest.approx(
            expected[order[:10]].tolist(), abs=1e-11
        )


@pytest.mark.parametrize("logits", ROWS)
@pytest.mark.parametrize("count", [1, 2, 50, 1024, 4000, 200_000])
def test_the_most_probable_are_the_beginning_of_a_stable_sort(logits, count):
    masked = logits.clone()
    masked[::3] = NEVER
    for row in (logits, masked):
        expected = torch_reference.ranked(row)[:count]
        assert selection.most_probable(row.numpy(), count).tolist() == expected.tolist()


@pytest.mark.parametrize("logits", [row for row in ROWS if row.numel() > 1])
def test_a_tail_has_the_tokens_and_the_mass_of_the_row_bin_by_bin(logits):
    listable = max(1, logits.numel() - 7)
    tail = RowStatistics(logits.numpy(), listable=listable).tail()
    order = torch_reference.ranked(logits[:listable])[:TAIL_HEAD]
    assert [each.token_id for each in tail.head] == order.tolist()
    expected = torch_reference.tail_of(logits, listable, order)
    assert sum(count for count, _ in tail.bins) == listable - order.numel()
    # A logit that lies on the edge of two bins within rounding may be in either.
    ours = np.repeat([mean for _, mean in tail.bins], [count for count, _ in tail.bins])
    theirs = np.repeat([mean for _, mean in expected], [count for count, _ in expected])
    assert np.abs(ours - theirs).max(initial=0) < 0.01 * np.abs(theirs).max(initial=1)
    assert np.exp(ours).sum() == pytest.approx(np.exp(theirs).sum(), rel=1e-6)


@pytest.mark.parametrize("logits", ROWS[1:-1])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"top_p": 0.9},
        {"top_p": 0.999999},
        {"top_k": 5},
        {"top_k": 1024},
        {"top_k": 3000, "top_p": 0.7},
        {"min_p": 0.01},
    ],
)
@pytest.mark.parametrize("temperature", [0.01, 1.3])
def test_a_draw_has_the_interval_of_a_float64_softmax(logits, settings, temperature):
    params = SamplingParams(temperature=temperature, **settings)
    for seed in range(2):
        draw = sample(logits.numpy(), params, np.random.default_rng(seed))
        lower, upper, kept = torch_reference.interval_of(logits, params, draw.token_id)
        assert draw.kept == kept
        assert draw.upper - draw.lower == pytest.approx(upper - lower, abs=1e-12)
        if settings:  # where nothing is cut, the tokens past the head lie in another order
            assert (draw.lower, draw.upper) == pytest.approx((lower, upper), abs=1e-12)


def test_the_exponential_is_within_four_units_in_the_last_place_down_to_0():
    x = -np.concatenate([np.linspace(0, 700, 20_001), [705.0, 720.0, 744.0, 746.0, 1e6, np.inf]])
    ours = np.empty(x.size)
    row = x.astype(np.float32)
    selection.weigh(row, 0.0, 1.0, ours)
    expected = np.exp(row.astype(np.float64))
    normal = expected > 1e-300
    assert np.abs(ours[normal] / expected[normal] - 1).max() < 4 * 2**-52
    assert ours[~normal] == pytest.approx(expected[~normal], rel=1e-3, abs=1e-323)
    assert ours[-3:].tolist() == [0.0, 0.0, 0.0]
