from __future__ import annotations

import pytest
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
from transformers.models.qwen2.tokenization_qwen2 import Qwen2Tokenizer

from inference.weights.errors import WeightsError
from inference.weights.splitting import apply_rule
from tests.inference.weights import tiny


def split_by(name):
    tokenizer = tiny.tokenizer()
    apply_rule(tokenizer, name)
    return tokenizer


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("gpt-2", "  2", ["Ġ", "Ġ2"]),
        ("smollm", "  2", ["ĠĠ", "2"]),
        ("qwen2", "  2", ["Ġ", "Ġ", "2"]),
        ("gpt-2", "12", ["12"]),
        ("smollm", "12", ["1", "2"]),
        ("qwen2", "12", ["1", "2"]),
        ("gpt-2", "e\u0301", ["e", "Ì", "ģ"]),
        ("smollm", "e\u0301", ["e", "Ì", "ģ"]),
        ("qwen2", "e\u0301", ["Ã©"]),
        ("smollm", "\n\n2", ["ĊĊ", "2"]),
    ],
)
def test_the_rule_decides_which_merges_happen(name, text, tokens):
    assert split_by(name).encode(text).tokens == tokens


@pytest.mark.parametrize("text", tiny.AWKWARD)
def test_smollm_is_split_as_its_own_tokenizer_json_says(text):
    digits = Digits(individual_digits=True)
    bytes_ = ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True)
    expected = tiny.tokenizer(Sequence([digits, bytes_]))
    assert split_by("smollm").encode(text).ids == expected.encode(text).ids


@pytest.mark.parametrize("text", tiny.AWKWARD)
def test_qwen2_is_split_as_transformers_own_class_does(text):
    vocab = {token: token_id for token_id, token in enumerate(tiny.TOKENS)}
    expected = Qwen2Tokenizer(
        vocab=vocab, merges=[tuple(merge.split(" ")) for merge in tiny.MERGES]
    )
    expected.add_special_tokens({"additional_special_tokens": tiny.SPECIAL})
    assert split_by("qwen2").encode(text).ids == expected(text)["input_ids"]


@pytest.mark.parametrize("name", ["llama-bpe", "default", "", "SmolLM", None])
def test_a_rule_that_is_not_known_is_refused_by_name(name):
    with pytest.raises(WeightsError, match=f"names {name!r} as its pre-tokenizer"):
        apply_rule(tiny.tokenizer(), name)
