"""Finding tokens by how they begin, against a search of the whole vocabulary."""

from __future__ import annotations

import random

import pytest

from inference.engine.token_index import TokenIndex

TOKENS = [b" cat", b"c", b"ca", b" ca", b" cats", b"\xc3", b"\xc3\xa9", b" Cat", b"cab", b" cat"]


def found(beginning, *, at_most=20):
    return TokenIndex(TOKENS).beginning_with(beginning, at_most=at_most)


def test_the_exact_token_comes_first_then_the_shortest():
    assert found(b" cat") == [0, 9, 4]
    assert found(b"ca") == [2, 8]
    assert found(b" ca") == [3, 0, 9, 4]


def test_what_nothing_begins_with_is_nothing():
    assert found(b"dog") == []


def test_a_beginning_is_one_of_bytes_and_not_of_characters():
    assert found("é".encode()) == [6]
    assert found(b"\xc3") == [5, 6]


def test_no_more_are_given_than_asked_for():
    assert found(b" ca", at_most=2) == [3, 0]


@pytest.mark.parametrize("beginning", [b"", b"a", b"ab", b"\x7f", b"abc"])
def test_the_index_finds_what_a_search_of_everything_finds(beginning):
    draw = random.Random(1)
    tokens = [bytes(draw.choices(b"ab\x7f\xf4", k=draw.randint(1, 5))) for _ in range(2000)]
    by_hand = sorted(
        (i for i, token in enumerate(tokens) if token.startswith(beginning)),
        key=lambda i: (len(tokens[i]), i),
    )
    assert TokenIndex(tokens).beginning_with(beginning, at_most=50) == by_hand[:50]
