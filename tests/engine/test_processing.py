"""Penalties, bias, masks and cuts against transformers' own processors, singly and in pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    SequenceBiasLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from inference.engine.processing import Processing
from inference.engine.sampling import sample
from inference.engine.types import GenerationRequest, Logits, SamplingParams
from inference.errors import InferenceFailed, InvalidRequest
from tests.engine.running import Always

PROMPT = (3, 5, 5)
ROWS = 1500

# Ours, and transformers' processor for the same setting, in the order of both.
SETTINGS = {
    "logit_bias": ({7: 4.0, 3: -100.0}, lambda v: SequenceBiasLogitsProcessor(
        {(token_id,): bias for token_id, bias in v.items()})),
    "repetition_penalty": (1.7, RepetitionPenaltyLogitsProcessor),
    "temperature": (0.6, TemperatureLogitsWarper),
    "top_k": (40, TopKLogitsWarper),
    "top_p": (0.8, TopPLogitsWarper),
    "min_p": (0.05, MinPLogitsWarper),
}  # fmt: skip


def processing(**fields) -> tuple[Processing, SamplingParams]:
    rest = {name: fields.pop(name) for name in ("min_tokens", "constraint") if name in fields}
    params = SamplingParams(**fields)
    request = GenerationRequest(
        prompt_ids=PROMPT, max_tokens=9, num_candidates=0, sampling=params, **rest
    )
    return Processing(request, frozenset({0})), params


def distribution(logits: Logits, params: SamplingParams) -> torch.Tensor:
    """The probability of every token that can be drawn, found by laying a number in each."""
    u, found = 0.0, torch.zeros(logits.size, dtype=torch.float64)
    while u < 1 - 1e-12:
        draw = sample(logits, params, Always(u))
        found[draw.token_id] = draw.probability
        u = draw.upper
    return found


NAMES = [*((name,) for name in SETTINGS), *combinations(SETTINGS, 2), tuple(SETTINGS)]


@pytest.mark.parametrize("names", NAMES, ids=lambda names: "+".join(names))
def test_the_distribution_is_that_of_transformers_processors(names):
    torch.manual_seed(len("".join(names)))
    logits = 4 * torch.randn(ROWS)
    ours, params = processing(**{name: SETTINGS[name][0] for name in names})
    theirs = LogitsProcessorList([SETTINGS[name][1](SETTINGS[name][0]) for name in names])
    expected = theirs(torch.tensor([PROMPT]), logits[None].clone())[0].double().softmax(-1)
    found = distribution(ours.process(logits.numpy()), params)
    assert (found - expected).abs().max() < 1e-6


def test_presence_and_frequency_lower_what_was_drawn_and_not_the_prompt():
    ours, _ = processing(presence_penalty=0.5, frequency_penalty=0.25)
    for token_id in (8, 8, 9):
        ours.accept(token_id)
    lowered = -ours.process(np.zeros(12, np.float32))
    assert lowered.tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 1.0, 0.75, 0, 0]


def test_repetition_counts_the_prompt_and_what_was_drawn():
    ours, _ = processing(repetition_penalty=2.0)
    ours.accept(9)
    logits = np.array([1.0, 1, 1, 1, 1, -1, 1, 1, 1, 1], np.float32)
    assert ours.process(logits).tolist() == [1, 1, 1, 0.5, 1, -2, 1, 1, 1, 0.5]


def test_the_row_that_is_processed_stays_as_it_is():
    logits = np.zeros(12, np.float32)
    processing(logit_bias={1: 5.0}, repetition_penalty=2.0, min_tokens=1)[0].process(logits)
    assert logits.tolist() == [0.0] * 12


def test_end_of_sequence_is_masked_until_min_tokens_are_drawn():
    ours, _ = processing(min_tokens=2)
    masked = []
    for token_id in (4, 5, 6):
        masked.append(bool(np.isneginf(ours.process(np.zeros(12, np.float32))[0])))
        ours.accept(token_id)
    assert masked == [True, True, False]


class Alternating:
    """A grammar that allows even ids, then odd ones, and so on."""

    def __init__(self) -> None:
        self.drawn = 0

    def allowed(self) -> NDArray[np.bool_]:
        allowed: NDArray[np.bool_] = np.arange(20) % 2 == self.drawn % 2
        return allowed

    def accept(self, token_id: int) -> None:
        self.drawn += 1


def test_a_constraint_masks_what_its_grammar_forbids_and_follows_the_draws():
    ours, params = processing(constraint=Alternating, temperature=0.0)
    logits = np.arange(10, dtype=np.float32)
    drawn = []
    for _ in range(3):
        drawn.append(sample(ours.process(logits), params, Always(0)).token_id)
        ours.accept(drawn[-1])
    assert drawn == [8, 9, 8]


def test_a_mask_that_leaves_nothing_is_a_failure_and_not_a_guess():
    with pytest.raises(InferenceFailed):
        sample(np.full(5, float("-inf"), np.float32), SamplingParams(), Always(0))


@pytest.mark.parametrize(
    ("param", "value"),
    [("top_k", -1), ("min_p", -0.1), ("min_p", 1.1), ("repetition_penalty", 0.0),
     ("repetition_penalty", float("inf")), ("presence_penalty", 2.1), ("frequency_penalty", -2.1)],
)  # fmt: skip
def test_a_setting_out_of_bounds_is_refused_by_name(param, value):
    with pytest.raises(InvalidRequest) as raised:
        SamplingParams(**{param: value})
    assert raised.value.param == param
