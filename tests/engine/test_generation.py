"""Prompts read in one pass or several, given tokens, prompt scores, several choices."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch

from inference.engine import prompt as prompt_module
from inference.engine.types import FinishReason, PromptScores
from inference.errors import InferenceFailed
from tests.engine.running import events_of, request_for, run
from tests.fakes import scripted_engine


def values(step):
    """What a step says, apart from its times."""
    return dataclasses.replace(step, started_at=0.0, finished_at=0.0)


def close(one, other):
    assert one.token_id == other.token_id
    assert one.logprob == pytest.approx(other.logprob, abs=1e-5)
    assert one.rank == other.rank
    assert one.entropy == pytest.approx(other.entropy, abs=1e-4)


def test_given_tokens_have_the_probabilities_that_drawing_them_had(engine):
    drawn = run(engine, "The moon is", temperature=1.3, seed=5)
    ids = tuple(step.token_id for step in drawn)
    given = run(engine, "The moon is", temperature=1.3, seed=5, forced_ids=ids[:7])
    assert [step.forced for step in given] == [True] * 7 + [False] * (len(drawn) - 7)
    for one, other in zip(given[:7], drawn, strict=False):
        close(one, other)
        assert one.draw.u is None
        assert one.draw.probability == pytest.approx(other.draw.probability, abs=1e-5)


def test_a_given_token_may_be_one_that_the_settings_would_never_draw(engine):
    greedy = run(engine, "x", max_tokens=1)[0]
    other = next(c.token_id for c in greedy.candidates if c.token_id != greedy.token_id)
    (step, *rest) = run(engine, "x", max_tokens=2, forced_ids=(other,))
    assert (step.token_id, step.draw.probability) == (other, 0.0)
    assert len(rest) == 1
    assert not rest[0].forced


def test_a_given_end_of_sequence_ends_the_completion(engine):
    eos = min(engine.vocabulary.eos_ids)
    steps = run(engine, "x", forced_ids=(97, eos, 98))
    assert [step.token_id for step in steps] == [97, eos]
    assert steps[-1].finish_reason is FinishReason.EOS


def test_prompt_scores_are_those_of_the_tokens_had_they_been_given(engine):
    ids = tuple(engine.encode("The moon is the cat"))
    events = events_of(engine, request_for(engine, "The moon is the cat", score_prompt=True))
    scores = events[0]
    assert isinstance(scores, PromptScores)
    assert scores.scores[0] is None
    given = run(engine, "T", forced_ids=ids[1:], max_tokens=len(ids) - 1)
    assert len(scores.scores) == len(ids)
    for score, step in zip(scores.scores[1:], given, strict=True):
        close(score, step)


def test_scoring_the_prompt_changes_no_step(engine):
    plain = run(engine, "The moon is", temperature=1.0, seed=2)
    scored = run(engine, "The moon is", temperature=1.0, seed=2, score_prompt=True)
    assert len(plain) == len(scored)
    for one, other in zip(plain, scored, strict=True):
        close(one, other)


def test_max_tokens_zero_reads_the_prompt_and_no_more(engine):
    events = events_of(engine, request_for(engine, "ab", max_tokens=0, score_prompt=True))
    assert [type(event) for event in events] == [PromptScores]
    assert events_of(engine, request_for(engine, "ab", max_tokens=0)) == []


def test_a_prompt_read_in_parts_gives_what_one_read_gives(engine, monkeypatch):
    whole = run(engine, "a moon " * 20)
    monkeypatch.setattr(prompt_module, "PART_TOKENS", 7)
    parts = run(engine, "a moon " * 20)
    for one, other in zip(parts, whole, strict=True):
        close(one, other)


def test_each_choice_draws_from_its_own_source_and_none_changes_another(engine):
    fields = {"temperature": 1.5, "seed": 9, "num_choices": 3}
    steps = run(engine, "a", **fields)
    texts = [[s.token_id for s in steps if s.choice == i] for i in range(3)]
    assert len({tuple(text) for text in texts}) == 3
    assert [s.token_id for s in run(engine, "a", temperature=1.5, seed=9)] == texts[0]
    again = run(engine, "a", **fields)
    assert [values(step) for step in steps] == [values(step) for step in again]


def test_turns_of_two_requests_may_alternate_and_change_nothing(engine):
    requests = [
        request_for(engine, "The moon", temperature=1.0, seed=1),
        request_for(engine, "a cat is", temperature=1.0, seed=2, num_choices=2),
    ]
    alone = [[values(e) for e in events_of(engine, request)] for request in requests]
    together = [[], []]
    generations = [engine.open(request) for request in requests]
    while live := [i for i, g in enumerate(generations) if not g.has_ended]:
        for i, outcome in zip(live, engine.turn([generations[i] for i in live]), strict=True):
            together[i] += [values(e) for e in outcome]
    assert together == alone


def test_end_of_sequence_is_a_token_like_any_other_when_ignored():
    engine = scripted_engine("ab")
    steps = run(engine, "x", ignore_eos=True, max_tokens=5)
    eos = min(engine.vocabulary.eos_ids)
    assert [step.token_id for step in steps] == [97, 98, eos, eos, eos]
    assert steps[-1].finish_reason is FinishReason.LENGTH


def test_a_stop_id_ends_as_end_of_sequence_does():
    steps = run(scripted_engine("abc"), "x", stop_ids=frozenset({98}), ignore_eos=True)
    assert [step.token_id for step in steps] == [97, 98]
    assert steps[-1].finish_reason is FinishReason.EOS


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_logits_that_are_not_finite_are_a_failure(bad):
    def script(place):
        row = torch.zeros(300)
        row[5] = bad
        return row

    with pytest.raises(InferenceFailed):
        run(scripted_engine(script), "x")


def test_rows_without_a_token_are_in_no_bin_of_the_tail():
    """A head of 100 rows, of which the tokenizer has 80: 50 singly, 30 in bins."""
    from inference.engine.statistics import RowStatistics

    tail = RowStatistics(torch.zeros(100).numpy(), listable=80).tail()
    assert sum(count for count, _ in tail.bins) == 30
    assert [logprob for _, logprob in tail.bins] == [pytest.approx(-math.log(100))]


@pytest.mark.parametrize("spread", [0.0, 0.02, 0.3, 1.0, 3.0, 10.0])
def test_the_tail_gives_the_mass_of_the_rest_at_any_temperature(spread):
    """Under a thousandth off, absolute, at every temperature from 0.05 to 2."""
    torch.manual_seed(4)
    logits = spread * torch.randn(20_000)
    from inference.engine.statistics import RowStatistics

    tail = RowStatistics(logits.numpy(), listable=20_000).tail()
    for temperature in (0.05, 0.1, 0.3, 0.7, 1.0, 1.5, 2.0):
        exact = (logits.double() / temperature).softmax(-1)
        head = [math.exp((c.logprob - tail.head[0].logprob) / temperature) for c in tail.head]
        rest = sum(
            count * math.exp((logprob - tail.head[0].logprob) / temperature)
            for count, logprob in tail.bins
        )
        total = math.fsum(head) + rest
        assert sum(count for count, _ in tail.bins) == 20_000 - 50
        listed = [c.token_id for c in tail.head]
        assert rest / total == pytest.approx(1 - float(exact[listed].sum()), abs=1e-3)
        for candidate, weight in zip(tail.head, head, strict=True):
            assert weight / total == pytest.approx(float(exact[candidate.token_id]), abs=1e-3)
