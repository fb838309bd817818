"""Continuing from what an owner's earlier request read: less is read, and nothing else changes."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from inference.engine.engine import ModelEngine
from inference.engine.prefix_cache import PrefixCache
from inference.engine.types import PromptScores, Step
from tests.engine.running import events_of, request_for
from tests.fakes import tiny_engine, tiny_tokenizer

PROMPT = "The moon is a cat"


def exact_engine(family):
    """In float64: in float32, parts of another length round otherwise, each processor its way."""
    return tiny_engine(family, dtype=torch.float64)


class Counting:
    """A decoder that counts the tokens which it reads."""

    def __init__(self, decoder):
        self._decoder = decoder
        self.tokens_read = 0

    def __getattr__(self, name):
        return getattr(self._decoder, name)

    def prefill(self, context, token_ids, **options):
        self.tokens_read += len(token_ids)
        return self._decoder.prefill(context, token_ids, **options)

    def decode(self, contexts, token_ids):
        self.tokens_read += len(token_ids)
        return self._decoder.decode(contexts, token_ids)


class Owned:
    """An engine whose requests are released when they have ended, as the runtime does it."""

    def __init__(self, family, **bounds):
        made = exact_engine(family)
        self.decoder = Counting(made._decoder)
        self.engine = ModelEngine(
            self.decoder, vocabulary=made.vocabulary, tokenizer=tiny_tokenizer()
        )
        if bounds:
            self.engine._prefixes = PrefixCache(self.decoder, **bounds)

    def run(self, prompt=PROMPT, *, owner="us", turns=None, **fields):
        """The events of a request, given up after some turns, and how many tokens it read."""
        self.decoder.tokens_read = 0
        request = request_for(self.engine, prompt, owner=owner, **fields)
        generation = self.engine.open(request)
        events = []
        while not generation.has_ended and turns != 0:
            (outcome,) = self.engine.turn([generation])
            if isinstance(outcome, Exception):
                raise outcome
            events += outcome
            turns = None if turns is None else turns - 1
        self.engine.release(generation)
        return events, self.decoder.tokens_read


@pytest.fixture(params=["llama", "qwen2"])
def family(request):
    return request.param


@pytest.fixture
def owned(family):
    return Owned(family)


def ids_of(events):
    return [event.token_id for event in events if isinstance(event, Step)]


def probabilities_of(events):
    """Every probability of every step, to compare two runs by."""
    return [
        number
        for event in events
        for number in (
            math.exp(event.logprob),
            event.draw.lower,
            event.draw.upper,
            event.draw.probability,
            *(math.exp(candidate.logprob) for candidate in event.candidates),
        )
    ]


def assert_same(events, expected):
    assert ids_of(events) == ids_of(expected)
    assert probabilities_of(events) == pytest.approx(probabilities_of(expected), abs=1e-9, rel=0)
    entropies = [event.entropy for event in expected]
    assert [event.entropy for event in events] == pytest.approx(entropies, abs=1e-5)
    assert [event.rank for event in events] == [event.rank for event in expected]


def fresh(family, prompt=PROMPT, **fields):
    """The same request on an engine that has read nothing."""
    engine = exact_engine(family)
    return events_of(engine, request_for(engine, prompt, **fields))


def test_a_changed_temperature_reads_only_what_it_draws(owned, family):
    owned.run(max_tokens=6)
    settings = {"max_tokens": 6, "temperature": 1.5, "seed": 3}
    events, tokens_read = owned.run(**settings)
    assert_same(events, fresh(family, **settings))
    # The last token drawn is never read, and the prompt was.
    assert tokens_read == len(events) - 1


def test_a_branch_reads_only_what_is_new(owned, family):
    first, _ = owned.run(max_tokens=8)
    forced = (*ids_of(first)[:4], 98)
    settings = {"max_tokens": 8, "forced_ids": forced}
    events, tokens_read = owned.run(**settings)
    assert_same(events, fresh(family, **settings))
    # The token that was changed, and what was drawn after it but for the last.
    assert tokens_read == 1 + len(events) - len(forced) - 1


def test_a_branch_of_a_branch_takes_the_longest_beginning(owned, family):
    first, _ = owned.run(max_tokens=8)
    second, _ = owned.run(max_tokens=8, forced_ids=(*ids_of(first)[:2], 98))
    forced = (*ids_of(second)[:6], 99)
    events, tokens_read = owned.run(max_tokens=8, forced_ids=forced)
    assert_same(events, fresh(family, max_tokens=8, forced_ids=forced))
    assert tokens_read == 1 + len(events) - len(forced) - 1


def test_the_same_branch_again_reads_nothing_of_what_is_given(owned, family):
    settings = {"max_tokens": 4, "forced_ids": (97, 98, 99)}
    first, _ = owned.run(**settings)
    again, tokens_read = owned.run(**settings)
    assert_same(again, first)
    assert tokens_read == 0


@pytest.mark.parametrize("prompt", [PROMPT + " and", PROMPT[:-4], "The moon was", "The"])
def test_another_prompt_reads_what_it_does_not_share(owned, family, prompt):
    owned.run(max_tokens=5)
    events, tokens_read = owned.run(prompt, max_tokens=5)
    assert_same(events, fresh(family, prompt, max_tokens=5))
    assert tokens_read < len(owned.engine.encode(prompt)) + len(events) - 1


def test_what_was_given_up_midway_can_be_continued(owned, family):
    begun, _ = owned.run(max_tokens=12, turns=4)
    assert len(begun) == 4
    events, tokens_read = owned.run(max_tokens=12, forced_ids=tuple(ids_of(begun)[:3]))
    assert_same(events, fresh(family, max_tokens=12, forced_ids=tuple(ids_of(begun)[:3])))
    assert tokens_read == len(events) - 3 - 1


def test_a_request_that_read_nothing_leaves_nothing(owned):
    owned.run(turns=0)
    _, tokens_read = owned.run(max_tokens=1)
    assert tokens_read == len(owned.engine.encode(PROMPT))


def test_the_events_of_an_earlier_request_are_not_changed_by_a_later(owned, family):
    owned.run(max_tokens=6)
    owned.run(max_tokens=6, forced_ids=(98, 99))
    events, _ = owned.run(max_tokens=6)
    assert_same(events, fresh(family, max_tokens=6))


def test_nothing_is_shared_between_owners_nor_with_those_who_have_none(owned):
    everything = len(owned.engine.encode(PROMPT)) + 2
    for owner in ("us", "them", None, None):
        _, tokens_read = owned.run(owner=owner, max_tokens=3)
        assert tokens_read == everything


def test_an_owner_that_left_finds_nothing(owned):
    _, everything = owned.run(max_tokens=3)
    owned.run(owner="them", max_tokens=3)
    owned.engine.forget("us")
    assert owned.run(max_tokens=3)[1] == everything
    assert owned.run(owner="them", max_tokens=3)[1] == 2


def test_prompt_scores_read_the_prompt_and_are_the_same(owned, family):
    owned.run(max_tokens=3)
    events, tokens_read = owned.run(max_tokens=3, score_prompt=True)
    (scores, *_), (expected, *_) = events, fresh(family, max_tokens=3, score_prompt=True)
    assert isinstance(scores, PromptScores)
    assert len(scores.scores) == len(expected.scores) == len(owned.engine.encode(PROMPT))
    assert tokens_read == len(owned.engine.encode(PROMPT)) + 2


def test_several_choices_continue_from_what_one_left(owned, family):
    owned.run(max_tokens=4)
    settings = {"max_tokens": 4, "num_choices": 3, "temperature": 1.0, "seed": 1}
    events, _ = owned.run(**settings)
    assert_same(events, fresh(family, **settings))


# Bounds


def size_of_one(family):
    """The bytes that one request of this file leaves."""
    owned = Owned(family)
    owned.run(max_tokens=3)
    (kept,) = owned.engine._prefixes._kept
    rows = 3 * owned.engine.vocabulary.rows * 4
    heads, width, layers = 2, 8, 2
    context = 2 * layers * heads * width * 8 * (len(owned.engine.encode(PROMPT)) + 2)
    assert kept.size_bytes == rows + context
    return kept.size_bytes


def test_past_an_owners_bound_the_oldest_of_its_own_goes(family):
    size = size_of_one(family)
    owned = Owned(family, owner_bytes=2 * size, total_bytes=100 * size)
    owned.run(owner="them", max_tokens=3)
    prompts = ["a" + PROMPT[1:], "b" + PROMPT[1:], "c" + PROMPT[1:]]
    everything = [owned.run(prompt, max_tokens=3)[1] for prompt in prompts]
    assert [owned.run(prompt, max_tokens=3)[1] for prompt in prompts[1:]] == [2, 2]
    assert owned.run(prompts[0], max_tokens=3)[1] == everything[0]
    assert owned.run(owner="them", max_tokens=3)[1] == 2


def test_past_the_whole_bound_what_was_used_longest_ago_goes(family):
    size = size_of_one(family)
    owned = Owned(family, owner_bytes=100 * size, total_bytes=2 * size)
    for owner in ("first", "second", "first", "third"):
        _, tokens_read = owned.run(owner=owner, max_tokens=3)
    assert owned.run(owner="first", max_tokens=3)[1] == 2
    assert owned.run(owner="second", max_tokens=3)[1] == tokens_read


def test_what_is_larger_than_the_bound_is_not_kept(family):
    owned = Owned(family, owner_bytes=10, total_bytes=100)
    _, everything = owned.run(max_tokens=3)
    assert owned.run(max_tokens=3)[1] == everything


def test_the_same_request_again_takes_no_more_room(family):
    owned = Owned(family)
    for _ in range(3):
        owned.run(max_tokens=3)
    assert len(owned.engine._prefixes._kept) == 1


def test_a_kept_row_is_not_a_view_of_a_larger_pass(owned):
    owned.run(max_tokens=4, forced_ids=(97, 98, 99))
    (kept,) = owned.engine._prefixes._kept
    assert len(kept.rows) == 4
    assert all(row.base is None or row.base.nbytes == row.nbytes for row in kept.rows)
    assert all(row.dtype == np.float32 for row in kept.rows)
