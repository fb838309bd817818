"""Tokens as bytes and text."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, models
from transformers import Qwen2Config

from inference.engine.loading import vocabulary_of
from inference.engine.vocabulary import (
    Detokenizer,
    TokenizerSource,
    UnsupportedTokenizer,
    read_vocabulary,
)
from tests.fakes import SPECIALS, scripted_engine, tiny_tokenizer

TEXTS = ["plain", "two  spaces\n", "é", "👩‍🚀 नमस्ते", "مرحبا", "\x00\x01", "�", "日本語"]


@pytest.fixture(scope="module")
def vocabulary():
    return scripted_engine("").vocabulary


@pytest.mark.parametrize("text", TEXTS)
def test_the_bytes_of_a_texts_tokens_are_the_texts_bytes(vocabulary, text):
    ids = tiny_tokenizer().encode(text)
    assert b"".join(vocabulary.tokens[i] for i in ids) == text.encode()
    assert vocabulary.decode(ids) == text


@pytest.mark.parametrize("text", TEXTS)
def test_a_character_is_given_out_once_it_is_whole(vocabulary, text):
    detokenizer = Detokenizer(vocabulary)
    parts = [detokenizer.push(i) for i in tiny_tokenizer().encode(text)]
    assert "".join(parts) == text
    assert all("\ufffd" not in part for part in parts) or "\ufffd" in text
    assert detokenizer.end() == ""


def test_a_character_cut_short_ends_as_a_replacement(vocabulary):
    detokenizer = Detokenizer(vocabulary)
    assert [detokenizer.push(byte) for byte in "é".encode()[:1]] == [""]
    assert detokenizer.end() == "\ufffd"


def test_every_token_alone_reads_as_the_tokenizer_reads_it(vocabulary):
    tokenizer = tiny_tokenizer()
    for token_id in range(len(tokenizer)):
        assert vocabulary.text(token_id) == tokenizer.decode([token_id])


def test_special_tokens_are_part_of_no_text(vocabulary):
    ids = [vocabulary.tokens.index(name.encode()) for name in SPECIALS]
    assert vocabulary.special_ids == frozenset(ids)
    assert vocabulary.decode([97, *ids, 98]) == "ab"


def test_the_source_makes_the_same_tokenizer_again():
    made = tiny_tokenizer()
    made.chat_template = "{{ messages }}"
    source = vocabulary_of(made, Qwen2Config(eos_token_id=0), rows=len(made)).source
    assert source is not None
    again = Tokenizer.from_str(source.json)
    for text in [*TEXTS, " the moon<|im_end|>"]:
        assert again.encode(text).ids == made.encode(text)
    assert source.chat_template == "{{ messages }}"
    assert source.special_tokens["eos_token"] == made.eos_token


def test_a_tokenizer_that_is_not_byte_level_is_refused():
    class Sentencepiece:
        def __init__(self):
            self.added_tokens_decoder = {}

        def __len__(self):
            return 1

        def convert_ids_to_tokens(self, ids):
            return ["▁the"]

    with pytest.raises(UnsupportedTokenizer, match="not one of the tokenizers library"):
        vocabulary_of(Sentencepiece(), None, rows=1)


@pytest.mark.parametrize(
    ("vocab", "at_fault"), [({"a": 0, "▁the": 1}, "token 1"), ({"a": 0, "b": 2}, "token 1")]
)
def test_a_vocabulary_that_is_not_of_bytes_or_has_a_gap_is_refused(vocab, at_fault):
    tokenizer = Tokenizer(models.WordLevel(vocab, unk_token="a"))
    source = TokenizerSource(json=tokenizer.to_str(), chat_template=None, special_tokens={})
    with pytest.raises(UnsupportedTokenizer, match=at_fault):
        read_vocabulary(source, frozenset(), rows=3)
