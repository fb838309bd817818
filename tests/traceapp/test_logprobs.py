"""Logprobs and echo of /v1/completions: the model's own numbers, token by token."""

from __future__ import annotations

import math

import pytest
import torch

from inference.engine.engine import ModelEngine
from inference.engine.vocabulary import Vocabulary
from tests.fakes import PADDING_ROWS, ScriptedDecoder, scripted_engine, tiny_engine, tiny_tokenizer
from tests.traceapp.openai_api import joined


@pytest.fixture
def random(install):
    return install(tiny_engine("qwen2"))


async def logprobs_of(api, **body):
    (choice,) = (await api.ask(**body))["choices"]
    return choice["text"], choice["logprobs"]


def check_offsets(text, logprobs):
    """Each token stands in the text where its offset says, unless it is part of a character."""
    assert logprobs["text_offset"] == sorted(logprobs["text_offset"])
    for token, offset in zip(logprobs["tokens"], logprobs["text_offset"], strict=True):
        assert token.startswith(("bytes:", "<|")) or text.startswith(token, offset)


async def test_each_token_has_its_logprob_its_place_and_its_rivals(api, install):
    engine = scripted_engine(" is the moon")
    install(engine)
    text, got = await logprobs_of(api, prompt="The", temperature=0, max_tokens=3, logprobs=2)
    assert text == " is the moon"
    assert got["tokens"] == [" is", " the", " moon"]
    assert got["text_offset"] == [0, 3, 7]
    assert [math.exp(value) for value in got["token_logprobs"]] == pytest.approx(
        [0.5] * 3, abs=0.01
    )
    assert [len(top) for top in got["top_logprobs"]] == [2, 2, 2]
    for token, own, top in zip(
        got["tokens"], got["token_logprobs"], got["top_logprobs"], strict=True
    ):
        assert top[token] == own == max(top.values())


@pytest.mark.parametrize("count", [0, 1, 5, 20])
async def test_the_chosen_token_is_always_among_those_listed(api, random, count):
    _, got = await logprobs_of(
        api, prompt="The", max_tokens=40, seed=3, temperature=2, logprobs=count
    )
    sizes = {len(top) for top in got["top_logprobs"]}
    assert sizes <= {max(count, 1), count + 1}
    assert count != 5 or sizes == {5, 6}  # this seed draws from both sides of the list
    for token, own, top in zip(
        got["tokens"], got["token_logprobs"], got["top_logprobs"], strict=True
    ):
        assert top[token] == own


async def test_logprobs_are_the_models_before_any_setting(api, install):
    install(" is the moon")
    plain = await logprobs_of(api, prompt="The", temperature=0, max_tokens=3, logprobs=3)
    cat = str(tiny_tokenizer().encode(" cat")[0])
    shaped = await logprobs_of(
        api,
        prompt="The",
        temperature=0.3,
        top_k=1,
        top_p=0.5,
        logit_bias={cat: -5},
        repetition_penalty=1.2,
        max_tokens=3,
        logprobs=3,
    )
    assert shaped == plain


async def test_a_token_that_is_ruled_out_has_openais_least_number(api, install):
    row = torch.full((len(tiny_tokenizer()) + PADDING_ROWS,), -1e5)
    row[97] = 0.0
    install(scripted_engine(lambda place: row))
    _, got = await logprobs_of(api, prompt="The", temperature=0, max_tokens=1, logprobs=2)
    assert sorted(got["top_logprobs"][0].values()) == [-9999.0, 0.0]


async def test_offsets_count_characters_not_bytes(api, install):
    said = "é月 🌔 und"
    install(said)
    ids = tiny_tokenizer().encode(said)
    text, got = await logprobs_of(api, prompt="T", temperature=0, max_tokens=len(ids), logprobs=0)
    assert text == said
    # Two bytes of é, three of 月, a space, four of 🌔; then letters.
    assert got["text_offset"][:10] == [0, 0, 1, 1, 1, 2, 3, 3, 3, 3]
    assert got["tokens"][:2] == ["bytes:\\xc3", "bytes:\\xa9"]
    check_offsets(text, got)


@pytest.mark.parametrize("stop", ["und", "月", " 🌔 ", "é", "d"])
async def test_logprobs_end_where_the_text_ends(api, install, stop):
    said = "é月 🌔 und"
    install(said)
    text, got = await logprobs_of(
        api, prompt="T", temperature=0, max_tokens=40, logprobs=0, stop=stop
    )
    assert text == said[: said.index(stop)]
    assert all(offset < len(text) for offset in got["text_offset"])
    check_offsets(said, got)
    # Up to the token that the text ends in, none is missing.
    shown = b"".join(
        bytes.fromhex(t[6:].replace("\\x", "")) if t.startswith("bytes:") else t.encode()
        for t in got["tokens"]
    )
    assert shown.decode().startswith(text)


async def test_no_chunk_carries_a_token_before_its_text(api, random):
    chunks = await api.chunks(prompt="The", max_tokens=60, seed=5, logprobs=1, stop=["qqq", " the"])
    text = ""
    for chunk in chunks[:-1]:
        (choice,) = chunk["choices"]
        text += choice["text"]
        if not choice["finish_reason"]:
            assert all(offset < len(text) for offset in choice["logprobs"]["text_offset"])


async def test_two_ids_of_one_text_do_not_hide_each_other(api, install):
    tokens = (b"a", b"x", b"x", b"\xff", b"<end>")
    vocabulary = Vocabulary(
        tokens=tokens, special_ids=frozenset({4}), eos_ids=frozenset({4}), rows=5
    )
    probabilities = [0.1, 0.2, 0.4, 0.25, 0.05]
    row = torch.tensor(probabilities).log()

    class Letters:
        def encode(self, text):
            return [0] * len(text)

    decoder = ScriptedDecoder(lambda place: row, rows=5)
    install(ModelEngine(decoder, vocabulary=vocabulary, tokenizer=Letters()))
    _, got = await logprobs_of(api, prompt="a", temperature=0, max_tokens=1, logprobs=4)
    assert {name: round(math.exp(value), 3) for name, value in got["top_logprobs"][0].items()} == {
        "x": 0.4,
        "bytes:\\xff": 0.25,
        "token_id:1": 0.2,
        "a": 0.1,
    }
    # Also when the one drawn is the less probable of the two.
    _, got = await logprobs_of(
        api, prompt="a", temperature=0, max_tokens=1, logprobs=2, logit_bias={"1": 100}
    )
    assert got["tokens"] == ["x"]
    assert {name: round(math.exp(value), 3) for name, value in got["top_logprobs"][0].items()} == {
        "token_id:2": 0.4,
        "bytes:\\xff": 0.25,
        "x": 0.2,
    }


# Echo


async def test_echo_begins_the_text_with_the_prompt(api, install):
    install(" is the moon")
    for prompt in ("The cat", tiny_tokenizer().encode("The cat")):
        answer = await api.ask(prompt=prompt, temperature=0, max_tokens=3, echo=True)
        assert answer["choices"][0]["text"] == "The cat is the moon"
        assert answer["choices"][0]["logprobs"] is None
        assert answer["usage"] == {"prompt_tokens": 4, "completion_tokens": 3, "total_tokens": 7}


async def test_echo_with_logprobs_scores_the_prompt(api, random):
    prompt = "The cat is 月"
    text, got = await logprobs_of(
        api, prompt=prompt, temperature=0, max_tokens=2, echo=True, logprobs=3
    )
    assert text.startswith(prompt)
    ids = tiny_tokenizer().encode(prompt)
    assert len(got["tokens"]) == len(ids) + 2
    assert got["token_logprobs"][0] is got["top_logprobs"][0] is None
    assert got["token_logprobs"].count(None) == 1
    check_offsets(text, got)
    for own, top in list(zip(got["token_logprobs"], got["top_logprobs"], strict=True))[1:]:
        assert len(top) in {3, 4}
        assert own in top.values()


async def test_a_prompts_scores_are_those_of_drawing_it(api, random):
    _, drawn = await logprobs_of(api, prompt=[84, 104], temperature=0, max_tokens=6, logprobs=2)
    steps = drawn["token_logprobs"]
    ids = [84, 104]
    vocabulary = random.engine.vocabulary
    names = {vocabulary.text(i): i for i in range(len(vocabulary.tokens))}
    for token in drawn["tokens"]:
        byte = token.startswith("bytes:")
        ids.append(int(token[-2:], 16) if byte else names[token])
    _, echoed = await logprobs_of(
        api, prompt=ids, temperature=0, max_tokens=0, echo=True, logprobs=2
    )
    assert echoed["token_logprobs"][2:] == pytest.approx(steps, abs=1e-4)


@pytest.mark.parametrize("logprobs", [None, 0, 2])
async def test_max_tokens_zero_gives_the_prompt_alone(api, random, logprobs):
    body = {"prompt": "The cat", "max_tokens": 0, "echo": True, "logprobs": logprobs}
    answer = await api.ask(**body)
    (choice,) = answer["choices"]
    assert (choice["text"], choice["finish_reason"]) == ("The cat", "length")
    assert answer["usage"] == {"prompt_tokens": 4, "completion_tokens": 0, "total_tokens": 4}
    assert joined(await api.chunks(**body)) == {0: "The cat"}
    if logprobs is not None:
        assert len(choice["logprobs"]["tokens"]) == 4


async def test_max_tokens_zero_without_echo_is_refused(api, random):
    assert (await api.refusal(400, prompt="The", max_tokens=0))["param"] == "max_tokens"


async def test_every_prompt_of_a_batch_is_echoed_and_scored(api, random):
    prompts = [[84, 104, 101], [84, 104], [260, 261, 262, 263]]
    answer = await api.ask(
        prompt=prompts, temperature=0, max_tokens=1, logprobs=1, echo=True, seed=1234
    )
    for prompt, choice in zip(prompts, answer["choices"], strict=True):
        got = choice["logprobs"]
        assert len(got["tokens"]) == len(prompt) + 1
        assert got["token_logprobs"].count(None) == 1
        check_offsets(choice["text"], got)
    assert answer["usage"] == {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}


async def test_a_control_token_in_a_prompt_is_echoed_by_name(api, random):
    prompt = "a<|im_start|>b"
    text, got = await logprobs_of(
        api, prompt=prompt, max_tokens=0, echo=True, logprobs=0, temperature=0
    )
    assert text == prompt
    assert got["tokens"] == ["a", "<|im_start|>", "b"]
    assert got["text_offset"] == [0, 1, 13]


async def test_a_stop_string_in_the_prompt_stops_nothing(api, install):
    install(" is the moon")
    answer = await api.ask(prompt="The cat", echo=True, stop=" cat", temperature=0, max_tokens=3)
    assert answer["choices"][0]["text"] == "The cat is the moon"
