"""POST /v1/completions, on models whose text a reader can check and on tiny random ones."""

from __future__ import annotations

import pytest

from tests.fakes import CARD, END, scripted_engine, tiny_engine, tiny_tokenizer
from tests.gates import Gate
from tests.traceapp.openai_api import COMPLETIONS, joined
from traceapp.wire.openai.completions import CompletionBody
from traceapp.wire.openai.generation import IGNORED

GREEDY = {"prompt": "The", "temperature": 0}


@pytest.fixture
def serving(install):
    return install(" is the moon")


@pytest.fixture
def gate():
    gate = Gate()
    yield gate
    gate.open()


@pytest.fixture
def random(install):
    """A random model: bytes without sense, many of them no character."""
    return install(tiny_engine("llama"))


async def test_a_completion_has_the_contracts_fields(api, serving):
    answer = await api.ask(**GREEDY, max_tokens=4)
    assert answer["object"] == "text_completion"
    assert answer["id"].startswith("cmpl-")
    assert answer["model"] == CARD.alias
    assert answer["choices"] == [
        {"index": 0, "text": " is the moon", "finish_reason": "length", "logprobs": None}
    ]
    # T, h, e; " is", " the", " moon" and the end of the text, which completions go past.
    assert answer["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}


async def test_a_stream_is_pieces_then_the_usage_then_done(api, serving):
    *pieces, usage = await api.chunks(**GREEDY, max_tokens=3)
    assert [c["choices"][0]["text"] for c in pieces] == [" is", " the", " moon"]
    assert [c["choices"][0]["finish_reason"] for c in pieces] == [None, None, "length"]
    assert usage["usage"] == {"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6}


async def test_the_model_field_is_a_label(api, serving):
    answer = await api.ask(**GREEDY, model="any/name", max_tokens=1)
    assert answer["model"] == "any/name"
    (chunk, _) = await api.chunks(**GREEDY, model="any/name", max_tokens=1)
    assert chunk["model"] == "any/name"


async def test_max_tokens_is_sixteen_unless_given(api, random):
    for body in ({}, {"max_tokens": None}):
        assert (await api.ask(**GREEDY, **body))["usage"]["completion_tokens"] == 16


async def test_a_completion_goes_past_the_end_of_a_sequence(api, serving):
    answer = await api.ask(**GREEDY, max_tokens=6, ignore_eos=False)
    assert answer["choices"][0]["text"] == " is the moon"
    assert answer["usage"]["completion_tokens"] == 6


SETTINGS = [
    {},
    {"n": 3, "temperature": 1.3},
    {"stop": ["a", " t", "\n"], "temperature": 1.5, "n": 3},
    {"logprobs": 2, "temperature": 1.2},
    {"echo": True, "logprobs": 0, "n": 2},
    {"prompt": ["The", "", "moon 🌔月"], "echo": True, "n": 3},
    {"top_k": 5, "min_p": 0.1, "presence_penalty": 1.5, "frequency_penalty": 0.5},
]


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
@pytest.mark.parametrize("asked", SETTINGS, ids=str)
async def test_the_stream_joined_is_the_answer(api, random, asked, seed):
    body = {"prompt": "The", "max_tokens": 24, "seed": seed} | asked
    answer = await api.ask(**body)
    chunks = await api.chunks(**body)
    assert chunks[-1]["usage"] == answer["usage"]
    texts, ends, logprobs = joined(chunks), {}, {}
    for chunk in chunks:
        for choice in chunk["choices"]:
            if choice["finish_reason"]:
                assert choice["index"] not in ends
                ends[choice["index"]] = choice["finish_reason"]
            for name, values in (choice["logprobs"] or {}).items():
                logprobs.setdefault(choice["index"], {}).setdefault(name, []).extend(values)
    for choice in answer["choices"]:
        index = choice["index"]
        assert choice["text"] == texts[index]
        assert choice["finish_reason"] == ends[index]
        assert choice["logprobs"] == logprobs.get(index)
    assert [choice["index"] for choice in answer["choices"]] == sorted(texts)


@pytest.mark.parametrize("text", ["🌔 und 月は綺麗", "naïve 👩‍🚀 café", "한국어 ok"])
async def test_characters_of_several_tokens_are_sent_whole(api, install, text):
    install(text)
    tokens = len(tiny_tokenizer().encode(text))
    chunks = await api.chunks(**GREEDY, max_tokens=tokens)
    assert joined(chunks) == {0: text}
    assert all("\N{REPLACEMENT CHARACTER}" not in str(chunk) for chunk in chunks)


async def test_a_character_cut_short_is_shown_as_one_that_is_missing(api, install):
    install("ab🌔")
    for answer in (
        (await api.ask(**GREEDY, max_tokens=4))["choices"][0]["text"],
        joined(await api.chunks(**GREEDY, max_tokens=4))[0],
    ):
        assert answer == "ab\N{REPLACEMENT CHARACTER}"


# Stop strings


async def test_a_stop_string_over_several_tokens_is_never_sent(api, install):
    install("one two END OF three")
    body = GREEDY | {"stop": ["END OF "], "max_tokens": 20}
    pieces = [c["choices"][0] for c in (await api.chunks(**body))[:-1]]
    assert "".join(piece["text"] for piece in pieces) == "one two "
    assert pieces[-1]["finish_reason"] == "stop"
    answer = await api.ask(**body)
    assert answer["choices"][0]["text"] == "one two "
    assert answer["choices"][0]["finish_reason"] == "stop"
    # Drawn tokens count, also those that the stop string cut off.
    assert answer["usage"]["completion_tokens"] == len(tiny_tokenizer().encode("one two END OF th"))


async def test_a_stop_string_that_never_completes_is_flushed(api, install):
    install("one two END")
    body = GREEDY | {"stop": "END OF", "max_tokens": 11}
    assert joined(await api.chunks(**body)) == {0: "one two END"}
    assert (await api.ask(**body))["choices"][0]["finish_reason"] == "length"


async def test_a_stop_string_on_the_last_token_is_a_stop(api, install):
    install("abcd")
    choice = (await api.ask(**GREEDY, stop="d", max_tokens=4))["choices"][0]
    assert (choice["text"], choice["finish_reason"]) == ("abc", "stop")


async def test_a_stop_that_spells_a_control_token_stops_on_it(api, install):
    install("ab")  # after which the model ends the sequence, which completions go past
    answer = await api.ask(**GREEDY, stop=[END], max_tokens=10)
    assert answer["choices"][0]["text"] == "ab"
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"]["completion_tokens"] == 3


async def test_the_model_rests_once_every_choice_has_stopped(api, install, gate):
    serving = install(scripted_engine("ab" * 100, gate=gate))
    gate.release(2)  # the prompt, which gives "a", and "a", which gives "b"
    await api.ask(**GREEDY, stop="b", max_tokens=200)
    gate.open()
    serving.close()
    assert serving.engine._decoder.passes <= 3  # one may be under way when the stop is seen


async def test_the_empty_stop_string_is_refused_by_name(api, serving):
    assert (await api.refusal(400, **GREEDY, stop=["a", ""]))["param"] == "stop"


# Prompts


async def test_prompts_may_be_text_or_ids_alone_or_several(api, serving):
    for prompt, count, tokens in (
        ("The", 1, 3),
        ([84, 104, 101], 1, 3),
        (["The", " moon"], 2, 4),
        ([[84, 104], [101]], 2, 3),
    ):
        answer = await api.ask(prompt=prompt, temperature=0, max_tokens=3)
        assert [choice["index"] for choice in answer["choices"]] == list(range(count))
        assert {choice["text"] for choice in answer["choices"]} == {" is the moon"}
        assert answer["usage"]["prompt_tokens"] == tokens
        assert answer["usage"]["completion_tokens"] == 3 * count


@pytest.mark.parametrize("body", [{}, {"prompt": ""}, {"prompt": None}, {"prompt": [""]}])
async def test_without_a_prompt_the_model_begins_a_document(api, serving, body):
    answer = await api.ask(**body, temperature=0, max_tokens=3)
    assert answer["choices"][0]["text"] == " is the moon"
    assert answer["usage"]["prompt_tokens"] == 1


@pytest.mark.parametrize("prompt", [[], [[]], [[84], []]])
async def test_a_list_without_tokens_is_refused(api, serving, prompt):
    assert (await api.refusal(400, prompt=prompt))["param"] == "prompt"


async def test_an_id_beyond_the_vocabulary_is_refused_by_number(api, serving):
    error = await api.refusal(400, prompt=[84, 999_999])
    assert "999999" in error["message"]
    assert error["param"] == "prompt"


@pytest.mark.parametrize("stream", [False, True])
async def test_a_prompt_that_fills_the_context_is_refused_with_both_numbers(api, serving, stream):
    error = await api.refusal(400, prompt="x" * 600, stream=stream)
    assert "600" in error["message"]
    assert str(CARD.max_model_len) in error["message"]
    assert error["code"] == "context_length_exceeded"


async def test_max_tokens_is_cut_to_the_room_that_is_left(api, random):
    answer = await api.ask(prompt="x" * (CARD.max_model_len - 5), max_tokens=100)
    assert answer["usage"]["completion_tokens"] == 5
    assert answer["choices"][0]["finish_reason"] == "length"


async def test_more_prompts_than_a_request_may_have_are_refused(api, serving):
    assert (await api.refusal(400, prompt=["a"] * 129))["param"] == "prompt"


# Settings at their edges


@pytest.mark.parametrize(
    "edge",
    [
        {"temperature": 1e-10},
        {"temperature": 0},
        {"top_p": 1, "temperature": 0},
        {"top_k": 0, "temperature": 0},
        {"top_k": -1, "temperature": 0},
        {"top_k": 1},
        {"logit_bias": {str(tiny_tokenizer().encode(" cat")[0]): -100}, "temperature": 0},
    ],
    ids=str,
)
async def test_what_leaves_only_the_most_probable_token_draws_it(api, serving, edge):
    answer = await api.ask(prompt="The", max_tokens=3, **edge)
    assert answer["choices"][0]["text"] == " is the moon"


async def test_seed_zero_is_a_seed(api, random):
    body = {"prompt": "The", "seed": 0, "temperature": 2, "max_tokens": 30}
    first, second = [(await api.ask(**body))["choices"][0]["text"] for _ in range(2)]
    assert first == second


async def test_choices_of_one_seed_differ_and_can_be_repeated(api, random):
    body = {"prompt": "The", "seed": 42, "n": 3, "max_tokens": 20}
    first, second = [
        [choice["text"] for choice in (await api.ask(**body))["choices"]] for _ in range(2)
    ]
    assert first == second
    assert len(set(first)) == 3


async def test_a_negative_seed_is_a_seed_too(api, random):
    body = {"prompt": "The", "max_tokens": 20}
    texts = [
        (await api.ask(**body, seed=seed))["choices"][0]["text"] for seed in (-1, -1, 1, 2**63 - 1)
    ]
    assert texts[0] == texts[1]
    assert len(set(texts)) == 3


async def test_a_bias_can_force_a_token_or_forbid_one(api, serving):
    cat, moon = (str(tiny_tokenizer().encode(word)[0]) for word in (" cat", " moon"))
    forced = await api.ask(**GREEDY, logit_bias={cat: 100}, max_tokens=2)
    assert forced["choices"][0]["text"] == " cat cat"
    without = await api.ask(**GREEDY, logit_bias={moon: -100}, max_tokens=3)
    assert without["choices"][0]["text"].startswith(" is the")
    assert "moon" not in without["choices"][0]["text"]


async def test_a_bias_on_the_end_of_a_sequence_keeps_it_away(api, install):
    engine = scripted_engine("ab")
    install(engine)
    (end,) = engine.vocabulary.eos_ids
    answer = await api.ask(**GREEDY, max_tokens=6, logit_bias={str(end): -100}, logprobs=1)
    assert END not in answer["choices"][0]["logprobs"]["tokens"]


async def test_a_bias_on_no_token_is_refused_by_its_id(api, serving):
    beyond = len(serving.engine.vocabulary.tokens)
    error = await api.refusal(400, **GREEDY, logit_bias={"5": 1, str(beyond): 1, "99999": 1})
    assert error["param"] == "logit_bias"
    assert str(beyond) in error["message"]
    assert "99999" in error["message"]
    for key in ("x", "-1", "1.5", "9" * 5000, "٣"):
        error = await api.refusal(400, **GREEDY, logit_bias={key: 1})
        assert error["param"] == "logit_bias"
        assert len(error["message"]) < 400


NOT_DONE = {"best_of": 2, "suffix": "end"}


def test_of_every_refused_field_a_value_is_tried():
    assert NOT_DONE.keys() == CompletionBody.REFUSED.keys()


@pytest.mark.parametrize("field", [*NOT_DONE, "stream_options"])
async def test_what_cannot_be_honoured_is_refused_by_name(api, serving, field):
    body = NOT_DONE | {"stream_options": {"include_usage": True}}
    error = await api.refusal(400, **GREEDY, **{field: body[field]})
    assert error["param"] == field
    assert field in error["message"]


async def test_what_changes_nothing_and_what_nobody_defined_may_be_sent(api, serving):
    answer = await api.ask(
        **GREEDY,
        max_tokens=3,
        best_of=1,
        suffix="",
        nobody_defined_this=[1],
        **dict.fromkeys(IGNORED, "low"),
    )
    assert answer["choices"][0]["text"] == " is the moon"


@pytest.mark.parametrize("options", [{}, {"include_usage": False}, {"include_usage": True}])
async def test_a_stream_ends_with_the_usage_whatever_its_options(api, serving, options):
    await api.chunks(**GREEDY, stream_options=options)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("temperature", "1"),
        ("temperature", 2.1),
        ("temperature", -0.1),
        ("temperature", True),
        ("top_p", 0),
        ("top_p", 1.1),
        ("top_k", -2),
        ("top_k", 1.0),
        ("max_tokens", -1),
        ("max_tokens", "5"),
        ("n", 0),
        ("n", 9),
        ("logprobs", 21),
        ("logprobs", -1),
        ("logprobs", True),
        ("stop", 5),
        ("stop", ["a", 1]),
        ("stream", "yes"),
        ("seed", 2**63),
        ("seed", 0.5),
        ("prompt", {"a": 1}),
        ("prompt", ["a", 1]),
        ("prompt", [1, True]),
        ("prompt", 7),
        ("model", 7),
        ("echo", 1),
        ("logit_bias", {"5": 101}),
        ("logit_bias", {"5": "1"}),
        ("presence_penalty", 2.5),
        ("frequency_penalty", -2.5),
        ("repetition_penalty", 0),
        ("min_p", 1.5),
        ("stream_options", []),
    ],
)
async def test_the_wrong_type_or_size_is_a_422_that_names_the_field(api, serving, field, value):
    error = await api.refusal(422, **GREEDY | {field: value})
    assert error["param"].startswith(field)
    assert field in error["message"]


@pytest.mark.parametrize(
    "body",
    [
        "[]",
        "3",
        "null",
        '"text"',
        "",
        "{",
        '{"prompt": "a", "prompt": "b"}',
        '{"temperature": NaN}',
        '{"temperature": 1e999}',
        '{"prompt": "\\ud800"}',
        "[" * 100_000,
        '{"max_tokens": ' + "9" * 5000 + "}",
    ],
    ids=lambda body: body[:24],
)
async def test_a_body_that_is_no_object_to_the_letter_is_a_422(api, serving, body):
    response = await api.send(COMPLETIONS, body)
    assert response.status_code == 422
    assert len(response.content) < 4000


async def test_a_thousand_problems_are_answered_in_short(api, serving):
    error = await api.refusal(422, prompt=["a", *range(1000)], stop=["x" * 100_000] * 2)
    assert len(error["message"]) < 4000
