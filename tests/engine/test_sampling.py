"""The draw, on distributions that a reader checks by eye."""

from __future__ import annotations

import numpy as np
import pytest

from inference.engine.kernels.selection import most_probable
from inference.engine.sampling import FEW, HEAD, sample, uniform_source
from inference.engine.types import Logits, SamplingParams
from inference.errors import InvalidRequest
from tests.engine.running import Always

LOGITS = np.log(np.array([0.05, 0.5, 0.15, 0.3], np.float32))  # ids by rank: 1, 3, 2, 0


def draw(u: float, logits: Logits = LOGITS, **params):
    return sample(logits, SamplingParams(**params), Always(u))


@pytest.mark.parametrize(
    ("u", "token_id", "lower", "upper"),
    [(0.0, 1, 0, 0.5), (0.49, 1, 0, 0.5), (0.51, 3, 0.5, 0.8), (0.94, 2, 0.8, 0.95),
     (0.96, 0, 0.95, 1.0), (1 - 2**-53, 0, 0.95, 1.0)],
)  # fmt: skip
def test_the_uniform_number_falls_into_the_interval_of_its_token(u, token_id, lower, upper):
    drawn = draw(u)
    assert drawn.token_id == token_id
    assert (drawn.u, drawn.lower, drawn.upper) == (u, pytest.approx(lower), pytest.approx(upper))
    assert drawn.probability == pytest.approx(upper - lower)
    assert drawn.kept == 4


@pytest.mark.parametrize(
    ("top_p", "kept"), [(1e-9, 1), (0.49, 1), (0.51, 2), (0.79, 2), (0.81, 3), (0.999, 4)]
)
def test_the_nucleus_is_the_fewest_tokens_that_reach_top_p(top_p, kept):
    assert draw(0.0, top_p=top_p).kept == kept


def test_the_nucleus_is_renormalised():
    drawn = draw(0.7, top_p=0.6)  # 0.5 and 0.3 are kept: 0.625 and 0.375
    assert (drawn.token_id, drawn.lower, drawn.upper) == (3, pytest.approx(0.625), 1.0)


def test_temperature_two_takes_the_square_root_of_each_probability():
    roots = [p**0.5 for p in (0.5, 0.3, 0.15, 0.05)]
    assert draw(0.0, temperature=2.0).upper == pytest.approx(roots[0] / sum(roots))


def test_greedy_lays_no_number_and_takes_the_lower_id_of_equals():
    drawn = draw(0.9, np.array([0.0, 2.0, 2.0], np.float32), temperature=0.0)
    assert (drawn.token_id, drawn.u, drawn.probability, drawn.kept) == (1, None, 1.0, 1)


def test_a_token_without_mass_is_never_drawn():
    logits = np.array([0.0, float("-inf"), 0.0], np.float32)
    drawn = [draw(u, logits).token_id for u in np.linspace(0, 1 - 2**-53, 50)]
    assert set(drawn) == {0, 2}


def test_equal_logits_are_ranked_by_id_however_many_are_asked_for():
    logits = np.zeros(3000, np.float32)
    logits[2000] = 1.0
    for count in (1, 2, 1500, 3000):
        expected = [2000, *[i for i in range(3000) if i != 2000]][:count]
        assert most_probable(logits, count).tolist() == expected


def test_past_the_head_the_axis_goes_on_without_gap_or_overlap():
    """A flat row of 5,000: the tail lies in id order, each token 1/5,000 wide."""
    logits = np.zeros(5000, np.float32)
    for place in (0, FEW - 1, FEW, HEAD - 1, HEAD, HEAD + 1, 4999):
        drawn = draw((place + 0.5) / 5000, logits)
        assert drawn.token_id == place
        assert drawn.lower == pytest.approx(place / 5000)
        assert drawn.upper == pytest.approx((place + 1) / 5000)


def test_a_nucleus_longer_than_the_head_is_found():
    assert draw(0.0, np.zeros(5000, np.float32), top_p=0.9).kept == 4500


def test_five_thousand_draws_follow_the_distribution():
    """Chi-square, 3 degrees of freedom: above 16.3 for one seed in a thousand; this is fixed."""
    uniform = uniform_source(2024)
    counts = np.bincount(
        [sample(LOGITS, SamplingParams(), uniform).token_id for _ in range(5000)], minlength=4
    )
    expected = 5000 * np.array([0.05, 0.5, 0.15, 0.3])
    assert ((counts - expected) ** 2 / expected).sum() < 16.3


def test_seeds_that_share_their_low_32_bits_differ():
    assert uniform_source(1).random() != uniform_source(2**32 + 1).random()


@pytest.mark.parametrize(
    ("param", "value"),
    [("temperature", -0.1), ("temperature", float("nan")), ("temperature", float("inf")),
     ("top_p", 0.0), ("top_p", 1.01), ("top_p", float("nan")), ("seed", -1)],
)  # fmt: skip
def test_a_setting_out_of_bounds_is_refused_by_name(param, value):
    with pytest.raises(InvalidRequest) as raised:
        SamplingParams(**{param: value})
    assert raised.value.param == param
