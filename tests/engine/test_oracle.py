"""Our tokens and probabilities against transformers' own, on tiny random models."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import TemperatureLogitsWarper, TopPLogitsWarper

from inference.engine.sampling import sample
from inference.engine.types import SamplingParams
from tests.engine.running import Always, run
from tests.fakes import tiny_engine, tiny_model, tiny_tokenizer

PROMPTS = ["The moon is", "x", "\n\n", "नमस्ते", "a" * 300]


@pytest.mark.parametrize("family", ["llama", "qwen2"])
@pytest.mark.parametrize("prompt", PROMPTS)
def test_greedy_tokens_are_those_of_generate(family, prompt):
    tokenizer = tiny_tokenizer()
    model = tiny_model(family, tokenizer)
    inputs = tokenizer(prompt, return_tensors="pt")
    # generate() would draw padding rows too; the tokenizer has no text for them.
    padding = list(range(len(tokenizer), model.config.vocab_size))
    expected = model.generate(
        **inputs, do_sample=False, max_new_tokens=12, suppress_tokens=padding
    )[0, inputs.input_ids.shape[1] :].tolist()
    assert [step.token_id for step in run(tiny_engine(family), prompt)] == expected


@pytest.mark.parametrize("family", ["llama", "qwen2"])
def test_probabilities_are_an_independent_softmax_of_one_pass_over_the_whole_text(family):
    tokenizer = tiny_tokenizer()
    model = tiny_model(family, tokenizer)
    steps = run(tiny_engine(family), "The moon is", temperature=1.3, seed=7)
    prompt_ids = tokenizer.encode("The moon is")
    ids = torch.tensor([[*prompt_ids, *(step.token_id for step in steps[:-1])]])
    with torch.inference_mode():
        logits = model(ids).logits[0, len(prompt_ids) - 1 :].numpy().astype(np.float64)
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    probabilities = exponentials / exponentials.sum(axis=-1, keepdims=True)
    for step, row in zip(steps, probabilities, strict=True):
        assert abs(np.exp(step.logprob) - row[step.token_id]) < 1e-6
        for candidate in step.candidates:
            assert abs(np.exp(candidate.logprob) - row[candidate.token_id]) < 1e-6
        entropy = -(row * np.log(row)).sum()
        assert step.entropy == pytest.approx(entropy, abs=1e-5)


def test_raw_logprobs_do_not_change_with_the_settings(engine):
    settings = [
        {"temperature": 0.0},
        {"temperature": 2.0, "seed": 1},
        {"temperature": 0.3, "top_p": 0.4, "seed": 2},
    ]
    first = [run(engine, "The moon is", max_tokens=1, **given)[0] for given in settings]
    assert first[0].candidates == first[1].candidates == first[2].candidates
    assert first[0].entropy == first[1].entropy == first[2].entropy


@pytest.mark.parametrize("temperature", [0.05, 0.7, 1.0, 2.0])
@pytest.mark.parametrize("top_p", [0.05, 0.5, 0.9, 1.0])
def test_the_sampling_distribution_is_that_of_transformers_processors(temperature, top_p):
    torch.manual_seed(1)
    for _ in range(20):
        logits = 3 * torch.randn(500)
        scores = TemperatureLogitsWarper(temperature)(torch.empty(0), logits[None])
        if top_p < 1:
            scores = TopPLogitsWarper(top_p)(torch.empty(0), scores)
        expected = scores[0].double().softmax(-1)
        # Every token's interval, found by laying a number in each.
        u, ours = 0.0, torch.zeros(500, dtype=torch.float64)
        params = SamplingParams(temperature=temperature, top_p=top_p)
        while u < 1 - 1e-12:
            draw = sample(logits.numpy(), params, Always(u))
            ours[draw.token_id] = draw.probability
            assert draw.lower <= u < draw.upper
            u = draw.upper
        assert (ours - expected).abs().max() < 1e-6
        assert draw.kept == int((expected > 0).sum())


def test_a_text_that_one_seed_drew_is_drawn_again(engine):
    once = run(engine, "a", temperature=1.5, seed=11)
    again = run(engine, "a", temperature=1.5, seed=11)
    other = run(engine, "a", temperature=1.5, seed=12)
    assert [s.token_id for s in once] == [s.token_id for s in again]
    assert [s.draw for s in once] == [s.draw for s in again]
    assert [s.token_id for s in once] != [s.token_id for s in other]


@pytest.mark.parametrize(
    "given", [{"temperature": 1.0, "top_p": 1e-9}, {"temperature": 1e-6}, {"temperature": 5e-324}]
)
def test_the_limits_of_the_settings_choose_what_greedy_chooses(engine, given):
    greedy = [step.token_id for step in run(engine, "The moon is")]
    assert [step.token_id for step in run(engine, "The moon is", seed=3, **given)] == greedy
