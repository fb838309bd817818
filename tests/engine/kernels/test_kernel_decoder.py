"""The kernels against transformers, layer by layer, and against themselves, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from transformers import DynamicCache, LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from inference.engine.kernel_decoder import rotary_tables
from inference.engine.kernels.formats import BF16, FLOAT32
from inference.engine.kernels.shape import shape_of
from tests.engine.kernels.tiny import FAMILIES, ROWS, decoder_of, ids_of, model_of


@pytest.fixture(scope="module", params=FAMILIES)
def pair(request, tmp_path_factory):
    """A model and the kernels' decoder of it."""
    model = model_of(request.param)
    return model, decoder_of(model, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def decoder(tmp_path_factory):
    return decoder_of(model_of("qwen2"), tmp_path_factory.mktemp("qwen2"))


def run(model, ids, **given):
    with torch.inference_mode():
        return model(torch.tensor([ids]), **given)


@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 20, 129, 300])
def test_a_prompt_gives_the_logits_and_the_cache_of_transformers(pair, length):
    model, decoder = pair
    ids, cache = ids_of(length), DynamicCache(config=model.config)
    expected = run(model, ids, cache=cache).logits[0]
    context = decoder.new_context(length)
    logits = decoder.prefill(context, ids, every_position=True)
    assert logits.shape == (length, ROWS)
    torch.testing.assert_close(torch.from_numpy(logits), expected, atol=2e-4, rtol=2e-4)
    for layer, kept in enumerate(cache.layers):
        for ours, theirs in ((context.keys, kept.keys), (context.values, kept.values)):
            torch.testing.assert_close(
                torch.from_numpy(ours[layer]), theirs[0], atol=5e-5, rtol=5e-5
            )


@pytest.mark.parametrize("head_dim", [64, 72, 136])
def test_heads_of_any_size_give_the_logits_of_transformers_at_once_and_by_token(head_dim, tmp_path):
    model = model_of("llama", head_dim=head_dim)
    decoder = decoder_of(model, tmp_path)
    ids = ids_of(12)
    logits = decoder.prefill(decoder.new_context(12), ids, every_position=True)
    torch.testing.assert_close(
        torch.from_numpy(logits), run(model, ids).logits[0], atol=2e-4, rtol=2e-4
    )
    context = decoder.new_context(12)
    assert np.array_equal(np.concatenate([decoder.decode([context], [i]) for i in ids]), logits)


def test_each_further_token_gives_the_logits_of_one_pass_over_all(pair):
    model, decoder = pair
    ids = ids_of(150)
    expected = run(model, ids).logits[0]
    context = decoder.new_context(150)
    decoder.prefill(context, ids[:100])
    for place in range(100, 150):
        row = decoder.decode([context], [ids[place]])[0]
        torch.testing.assert_close(torch.from_numpy(row), expected[place], atol=2e-4, rtol=2e-4)


def test_greedy_text_is_that_of_generate(pair):
    model, decoder = pair
    ids = ids_of(12)
    expected = model.generate(
        torch.tensor([ids]), do_sample=False, max_new_tokens=40, eos_token_id=None
    )[0, 12:].tolist()
    context = decoder.new_context(52)
    drawn = [int(decoder.prefill(context, ids)[0].argmax())]
    while len(drawn) < 40:
        drawn.append(int(decoder.decode([context], drawn[-1:])[0].argmax()))
    assert drawn == expected


def test_a_prompt_has_the_same_bits_in_one_part_in_several_and_token_by_token(decoder):
    ids = ids_of(300)
    whole = decoder.prefill(decoder.new_context(300), ids, every_position=True)
    parts = decoder.new_context(300)
    rows = [
        decoder.prefill(parts, ids[begin:end], every_position=True)
        for begin, end in [(0, 5), (5, 140), (140, 141), (141, 300)]
    ]
    assert np.array_equal(np.concatenate(rows), whole)
    alone = decoder.new_context(300)
    assert np.array_equal(np.concatenate([decoder.decode([alone], [i]) for i in ids]), whole)
    assert np.array_equal(decoder.prefill(decoder.new_context(300), ids)[0], whole[-1])


@pytest.mark.parametrize("batch", range(2, 9))
def test_a_row_has_the_same_bits_alone_and_in_company(decoder, batch):
    lengths = [1, 40, 3, 128, 129, 17, 250, 8][:batch]

    def contexts():
        made = [decoder.new_context(260) for _ in lengths]
        for seed, (context, length) in enumerate(zip(made, lengths, strict=True)):
            decoder.prefill(context, ids_of(length, seed=seed))
        return made

    together, apart = contexts(), contexts()
    for turn in range(3):
        ids = ids_of(batch, seed=100 + turn)
        rows = decoder.decode(together, ids)
        alone = [decoder.decode([c], [i])[0] for c, i in zip(apart, ids, strict=True)]
        assert np.array_equal(rows, np.stack(alone))


@pytest.mark.parametrize("threads", [1, 3])
def test_the_number_of_threads_changes_no_bit(decoder, tmp_path, threads):
    other = decoder_of(model_of("qwen2"), tmp_path, threads=threads)
    ids = ids_of(200)
    expected = decoder.prefill(decoder.new_context(200), ids, every_position=True)
    assert np.array_equal(other.prefill(other.new_context(200), ids, every_position=True), expected)


def test_a_fork_goes_on_from_where_it_was_made_and_leaves_the_other_alone(decoder):
    ids, other_ids = ids_of(60), ids_of(30, seed=1)
    context = decoder.new_context(100)
    decoder.prefill(context, ids)
    fork = decoder.fork(context, 40, 70)
    expected = decoder.prefill(decoder.new_context(70), [*ids[:40], *other_ids])
    assert np.array_equal(decoder.prefill(fork, other_ids), expected)
    expected = decoder.prefill(decoder.new_context(61), [*ids, 5])
    assert np.array_equal(decoder.decode([context], [5]), expected)


def test_a_refused_token_leaves_every_context_as_it_was(decoder):
    contexts = [decoder.new_context(10), decoder.new_context(3)]
    for context in contexts:
        decoder.prefill(context, [1, 2, 3])
    with pytest.raises(ValueError, match="no room"):
        decoder.decode(contexts, [4, 4])
    with pytest.raises(ValueError, match="no token"):
        decoder.decode(contexts[:1], [ROWS])
    expected = decoder.prefill(decoder.new_context(4), [1, 2, 3, 4])
    assert np.array_equal(decoder.decode(contexts[:1], [4]), expected)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_bf16_checkpoint_stays_bf16_and_gives_its_float32_results(family, tmp_path):
    model = model_of(family, tie_word_embeddings=True).bfloat16()
    decoder = decoder_of(model, tmp_path)
    assert {matrix.format for matrix in decoder.matrices} == {BF16}
    # Read again, as bfloat16() has rounded the frequencies of the rotation too.
    model = type(model).from_pretrained(tmp_path, dtype=torch.float32)
    expected = run(model, ids_of(40)).logits[0]
    logits = decoder.prefill(decoder.new_context(40), ids_of(40), every_position=True)
    torch.testing.assert_close(torch.from_numpy(logits), expected, atol=2e-4, rtol=2e-4)


def test_float32_weights_are_kept_as_bf16_where_that_loses_nothing(tmp_path):
    model = model_of("llama")
    with torch.no_grad():
        for layer in model.model.layers:
            layer.mlp.up_proj.weight.copy_(layer.mlp.up_proj.weight.bfloat16())
    decoder = decoder_of(model, tmp_path)
    formats = [matrix.format for matrix in decoder.matrices]
    assert formats.count(BF16) == 3
    assert set(formats) == {BF16, FLOAT32}
    expected = run(model, ids_of(40)).logits[0]
    logits = decoder.prefill(decoder.new_context(40), ids_of(40), every_position=True)
    torch.testing.assert_close(torch.from_numpy(logits), expected, atol=2e-4, rtol=2e-4)


@pytest.mark.parametrize("theta", [1e4, 1e5, 5e5, 1e6, 1e7])
@pytest.mark.parametrize("head_dim", [32, 64, 80, 96, 128])
def test_the_rotation_is_that_of_transformers_to_the_last_bit_of_a_frequency(theta, head_dim):
    config = LlamaConfig(
        rope_theta=theta, head_dim=head_dim, hidden_size=4 * head_dim, num_attention_heads=4
    )
    shape = shape_of(config.to_dict() | {"architectures": ["LlamaForCausalLM"]})
    cos, sin = rotary_tables(shape, 2048)
    rotary = LlamaRotaryEmbedding(config)
    positions = torch.arange(2048)[None]
    exact_cos, exact_sin = (
        each[0, :, : head_dim // 2].numpy() for each in rotary(torch.zeros(1), positions)
    )
    # torch's power can be off by its last bit, a frequency by two, and the product is rounded.
    frequencies = rotary.inv_freq.numpy()
    angles = np.arange(2048)[:, None] * frequencies
    slack = np.arange(2048)[:, None] * 2 * np.spacing(frequencies) + np.spacing(angles) + 2e-7
    assert (np.abs(cos - exact_cos) <= slack).all()
    assert (np.abs(sin - exact_sin) <= slack).all()
