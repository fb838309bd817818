"""POST /v1/chat/completions, on a model that says what it is told."""

from __future__ import annotations

import asyncio

import pytest

from inference.generate_config import GenerateConfig
from tests.fakes import scripted_engine, tiny_tokenizer
from tests.gates import Gate
from tests.traceapp.openai_api import CHAT, put_together, refused
from traceapp.wire.openai.chat import ChatBody
from traceapp.wire.openai.generation import IGNORED

SMALL, TOOLS, THINKS = "smollm2-135m", "qwen2.5-0.5b-instruct", "qwen3-0.6b"
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"
)
HELLO = [{"role": "user", "content": "hello"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'


@pytest.fixture
def say(install):
    """Serve a model that says this text, under one of the catalogue's aliases."""

    def start(text, alias=SMALL, **engine):
        return install(scripted_engine(text, chat_template=TEMPLATE, **engine), alias=alias)

    return start


@pytest.fixture
def ask(api):
    """The one choice of an answer; asserts that the stream of it comes to the same."""

    async def send(**body):
        body = {"messages": HELLO, "temperature": 0} | body
        answer = await api.ask(CHAT, **body)
        streamed = put_together(await api.chunks(CHAT, **body))
        assert streamed == [as_streamed(choice) for choice in answer["choices"]]
        return answer["choices"][0]

    return send


def as_streamed(choice):
    """A choice without what no two answers share: the ids of calls."""
    message = {k: v for k, v in choice["message"].items() if k != "refusal"}
    for call in message.get("tool_calls", []):
        assert call.pop("id").startswith("call_")
    return choice | {"message": message}


async def test_an_answer_has_the_contracts_fields(api, say):
    say(" is the moon")
    answer = await api.ask(CHAT, messages=HELLO, temperature=0, model="mine")
    assert answer["object"] == "chat.completion"
    assert answer["id"].startswith("chatcmpl-")
    assert answer["model"] == "mine"
    assert answer["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": " is the moon", "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ]
    prompt = tiny_tokenizer().encode("<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n")
    assert answer["usage"] == {
        "prompt_tokens": len(prompt),
        "completion_tokens": 4,  # the end of the text is drawn as well
        "total_tokens": len(prompt) + 4,
    }


async def test_a_stream_gives_the_role_once_then_the_content(api, say):
    say(" is the moon")
    *chunks, _ = await api.chunks(CHAT, messages=HELLO, temperature=0)
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    assert deltas[0] == {"role": "assistant", "content": " is"}
    assert deltas[1:] == [{"content": " the"}, {"content": " moon"}, {}]
    assert [c["choices"][0]["finish_reason"] for c in chunks] == [None, None, None, "stop"]


async def test_each_of_several_choices_has_its_role_once(api, say):
    say("ab")
    chunks = await api.chunks(CHAT, messages=HELLO, temperature=0, n=3)
    first = {}
    for chunk in chunks[:-1]:
        (choice,) = chunk["choices"]
        assert ("role" in choice["delta"]) == (choice["index"] not in first)
        first.setdefault(choice["index"], choice)
    assert sorted(first) == [0, 1, 2]
    assert chunks[-1]["usage"]["completion_tokens"] == 9


async def test_streamed_or_not_with_emoji_stops_and_several_choices(ask, say):
    say("naïve 🌔 und 月 STOP here")
    choice = await ask(n=3, stop=["STOP h"])
    assert choice["message"]["content"] == "naïve 🌔 und 月 "
    assert choice["finish_reason"] == "stop"


# What ends an answer


async def test_the_end_of_the_sequence_is_gone_past_when_asked(api, say):
    say("ab")
    answer = await api.ask(CHAT, messages=HELLO, temperature=0, ignore_eos=True, max_tokens=5)
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 5


@pytest.mark.parametrize("ignore_eos", [False, True])
async def test_min_tokens_keeps_the_end_away_until_then(api, say, ignore_eos):
    say("ab")
    answer = await api.ask(
        CHAT,
        messages=HELLO,
        temperature=0,
        min_tokens=5,
        max_tokens=6,
        ignore_eos=ignore_eos,
        logprobs=True,
    )
    tokens = [entry["token"] for entry in answer["choices"][0]["logprobs"]["content"]]
    assert "<|endoftext|>" not in tokens[:5]
    assert answer["usage"]["completion_tokens"] == 6


@pytest.mark.parametrize(
    ("limits", "drawn"),
    [
        ({}, 256),
        ({"max_tokens": 3}, 3),
        ({"max_tokens": 3, "max_completion_tokens": 2}, 2),
        ({"max_tokens": 3, "max_completion_tokens": None}, 3),
        ({"max_completion_tokens": 4}, 4),
    ],
)
async def test_which_of_the_token_limits_holds(api, say, limits, drawn):
    say("a" * 400)
    answer = await api.ask(CHAT, messages=HELLO, temperature=0, **limits)
    assert answer["usage"]["completion_tokens"] == drawn
    assert answer["choices"][0]["finish_reason"] == "length"


async def test_min_tokens_is_held_against_the_limit_that_counts(api, say, settings):
    say("ab")
    for limits in (
        {"min_tokens": 4, "max_tokens": 3},
        {"min_tokens": 3, "max_tokens": 5, "max_completion_tokens": 2},
        {"min_tokens": 257},
    ):
        assert (await api.refusal(400, CHAT, messages=HELLO, **limits))["param"] == "min_tokens"
    settings.GENERATE_CONFIG = GenerateConfig(max_tokens=2)
    assert (await api.refusal(400, CHAT, messages=HELLO, min_tokens=3))["param"] == "min_tokens"


# Logprobs


async def test_logprobs_have_bytes_and_exactly_the_rivals_asked_for(ask, say):
    say("é moon")
    choice = await ask(logprobs=True, top_logprobs=3)
    entries = choice["logprobs"]["content"]
    assert [entry["bytes"] for entry in entries] == [[0xC3], [0xA9], list(b" moon")]
    assert [entry["token"] for entry in entries] == ["\ufffd", "\ufffd", " moon"]
    for entry in entries:
        assert len(entry["top_logprobs"]) == 3
        assert entry["top_logprobs"][0]["bytes"] == entry["bytes"]
        assert entry["top_logprobs"][0]["logprob"] == entry["logprob"]


async def test_logprobs_without_rivals_and_none_at_all(ask, say):
    say("ab")
    choice = await ask(logprobs=True)
    assert [entry["top_logprobs"] for entry in choice["logprobs"]["content"]] == [[], []]
    assert (await ask(logprobs=False))["logprobs"] is None


async def test_rivals_need_logprobs(api, say):
    say("ab")
    error = await api.refusal(400, CHAT, messages=HELLO, top_logprobs=2)
    assert error["param"] == "top_logprobs"
    await api.refusal(422, CHAT, messages=HELLO, logprobs=True, top_logprobs=21)


# Messages


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        ([], "messages"),
        ([{"role": "wizard", "content": "a"}], "messages[0].role"),
        ([{"role": "user"}], "messages[0].content"),
        ([{"role": "user", "content": None}], "messages[0].content"),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
            "messages[0].content[0]",
        ),
        ([*HELLO, {"role": "tool", "content": "x", "tool_call_id": "1"}], "messages[1]"),
    ],
)
async def test_a_history_that_cannot_be_is_refused_by_place(api, say, messages, param):
    say("ab", TOOLS)
    for stream in (False, True):
        error = await api.refusal(400, CHAT, messages=messages, stream=stream)
        assert error["param"].startswith(param)


@pytest.mark.parametrize("messages", [None, "hello", [1], [{"content": "a"}], [{"role": 1}]])
async def test_messages_of_the_wrong_shape_are_a_422(api, say, messages):
    say("ab")
    error = await api.refusal(422, CHAT, messages=messages)
    assert error["param"].startswith("messages")


async def test_parts_of_text_are_one_text(api, say):
    say("ab")
    parts = [{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}]
    several = await api.ask(CHAT, messages=[{"role": "user", "content": parts}], temperature=0)
    one = await api.ask(CHAT, messages=[{"role": "user", "content": "hel\nlo"}], temperature=0)
    assert several["usage"] == one["usage"]


async def test_a_control_token_in_a_message_stays_text(api, say):
    serving = say("ab")
    spelt = "<|im_end|>"
    plain = await api.ask(CHAT, messages=[{"role": "user", "content": "x" * len(spelt)}])
    shown = await api.ask(CHAT, messages=[{"role": "user", "content": spelt}])
    assert len(serving.engine.encode(spelt)) == 1
    assert shown["usage"]["prompt_tokens"] == plain["usage"]["prompt_tokens"]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_conversation_larger_than_the_context_is_a_400(api, say, stream):
    say("ab")
    error = await api.refusal(
        400, CHAT, messages=[{"role": "user", "content": "x" * 600}], stream=stream
    )
    assert error["code"] == "context_length_exceeded"


async def test_a_model_without_a_template_cannot_chat(api, install):
    install("ab")
    assert "chat" in (await api.refusal(400, CHAT, messages=HELLO))["message"]


NOT_DONE = {
    "audio": {"voice": "alloy"},
    "modalities": ["text", "audio"],
    "prediction": {"type": "content", "content": "x"},
    "web_search_options": {},
    "functions": [{"name": "f"}],
    "function_call": "auto",
}


def test_of_every_refused_field_a_value_is_tried():
    assert NOT_DONE.keys() == ChatBody.REFUSED.keys()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *NOT_DONE.items(),
        ("reasoning_effort", "high"),
        ("chat_template_kwargs", {"enable_thinking": True}),
        ("tools", [WEATHER]),
        ("tool_choice", "required"),
        ("stream_options", {}),
    ],
)
async def test_what_this_model_cannot_do_is_refused_by_name(api, say, field, value):
    say("ab")
    error = await api.refusal(400, CHAT, messages=HELLO, **{field: value})
    assert error["param"] == field


async def test_what_changes_nothing_may_be_sent(ask, say):
    say("ab")
    choice = await ask(
        modalities=["text"],
        functions=[],
        function_call="none",
        tools=[],
        tool_choice="none",
        parallel_tool_calls=True,
        reasoning_effort="none",
        chat_template_kwargs={},
        response_format={"type": "text"},
        **dict.fromkeys(IGNORED, "low"),
        nobody_defined_this={},
    )
    assert choice["message"]["content"] == "ab"


# Tools


async def test_a_call_comes_out_of_the_text(ask, say):
    say(f"Let me see. {CALL}", TOOLS)
    choice = await ask(tools=[WEATHER])
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] == "Let me see."
    (call,) = choice["message"]["tool_calls"]
    assert call["function"] == {"name": "weather", "arguments": '{"city": "Oslo"}'}
    assert call["type"] == "function"


async def test_a_call_without_words_has_null_for_content(ask, say):
    say(CALL + CALL, TOOLS)
    choice = await ask(tools=[WEATHER])
    assert choice["message"]["content"] is None
    assert len(choice["message"]["tool_calls"]) == 2


async def test_only_the_first_of_parallel_calls_is_shown_when_asked(ask, say):
    say(CALL + CALL, TOOLS)
    choice = await ask(tools=[WEATHER], parallel_tool_calls=False)
    assert len(choice["message"]["tool_calls"]) == 1
    assert choice["finish_reason"] == "tool_calls"


async def test_tool_choice_none_hides_calls(ask, say):
    say(f"Hm. {CALL}", TOOLS)
    choice = await ask(tools=[WEATHER], tool_choice="none")
    assert choice["message"]["content"].strip() == "Hm."
    assert "tool_calls" not in choice["message"]
    assert choice["finish_reason"] == "stop"


async def test_without_tools_a_call_is_text(ask, say):
    say(CALL, TOOLS)
    assert (await ask())["message"]["content"] == CALL


async def test_a_call_cut_short_by_its_length_is_no_call_that_ended(ask, say):
    say(CALL, TOOLS)
    choice = await ask(tools=[WEATHER], max_tokens=len(CALL) - 20)
    assert choice["finish_reason"] == "length"


@pytest.mark.parametrize(
    "broken",
    [
        '<tool_call>\n{"name": "weather", "arguments": {"city": "Os',
        '<tool_call>\n{"name": "weather", "arguments": {city}}\n</tool_call>',
        "<tool_call>\nweather\n</tool_call>",
    ],
)
async def test_a_call_that_is_not_json_is_the_models_error(api, say, broken):
    say("Hm, well. " + broken, TOOLS)
    body = {"messages": HELLO, "tools": [WEATHER], "temperature": 0}
    error = await api.refusal(400, CHAT, **body)
    assert error["type"] == error["code"] == "invalid_model_output"
    *_, last = await api.events(CHAT, **body)
    assert last == {
        "error": {
            "message": error["message"],
            "type": "invalid_model_output",
            "param": None,
            "code": 400,
        }
    }


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tool_choice": "sometimes", "tools": [WEATHER]}, "tool_choice"),
        (
            {
                "tool_choice": {"type": "function", "function": {"name": "news"}},
                "tools": [WEATHER],
            },
            "tool_choice",
        ),
        ({"tool_choice": {"type": "function"}, "tools": [WEATHER]}, "tool_choice"),
        ({"tools": [WEATHER, WEATHER]}, "tools"),
        ({"chat_template_kwargs": {"tools": []}}, "chat_template_kwargs"),
    ],
)
async def test_tools_that_cannot_be_are_refused_by_name(api, say, asked, param):
    say("ab", TOOLS)
    error = await api.refusal(400, CHAT, messages=HELLO, **asked)
    assert error["param"].startswith(param)


async def test_a_whole_round_of_tools_is_read_back(ask, say):
    say("It rains.", TOOLS)
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    choice = await ask(
        tools=[WEATHER],
        messages=[
            *HELLO,
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "rain"},
        ],
    )
    assert choice["message"]["content"] == "It rains."


# Reasoning

THOUGHT = "<think>\nIs it day? No: night.\n</think>\n\nGood night."


async def test_thoughts_stand_beside_the_content(ask, say):
    say(THOUGHT, THINKS)
    choice = await ask()
    assert choice["message"]["reasoning"].strip() == "Is it day? No: night."
    assert choice["message"]["content"] == "Good night."


async def test_thoughts_are_left_out_when_asked(ask, say):
    say(THOUGHT, THINKS)
    message = (await ask(include_reasoning=False))["message"]
    assert "reasoning" not in message
    assert message["content"] == "Good night."


async def test_stop_strings_sleep_inside_a_thought(ask, say):
    say(THOUGHT, THINKS)
    choice = await ask(stop=["night"])
    assert choice["message"]["reasoning"].strip() == "Is it day? No: night."
    assert choice["message"]["content"] == "Good "
    assert choice["finish_reason"] == "stop"


async def test_an_effort_turns_thinking_off_in_the_template(api, say):
    say("Good night.", THINKS)
    thinking = await api.ask(CHAT, messages=HELLO, temperature=0)
    for off in ({"reasoning_effort": "none"}, {"chat_template_kwargs": {"enable_thinking": False}}):
        answer = await api.ask(CHAT, messages=HELLO, temperature=0, **off)
        more = answer["usage"]["prompt_tokens"] - thinking["usage"]["prompt_tokens"]
        assert more == len(tiny_tokenizer().encode("<think>\n\n</think>\n\n"))
        assert answer["choices"][0]["message"]["content"] == "Good night."
    await api.refusal(422, CHAT, messages=HELLO, reasoning_effort="some")


async def test_a_thought_cut_short_is_a_thought(ask, say):
    say(THOUGHT, THINKS)
    choice = await ask(max_tokens=20)
    assert choice["message"]["content"] == ""
    assert choice["finish_reason"] == "length"


# Streams that end otherwise


async def test_a_model_that_fails_in_mid_stream_says_so_and_done(api, say):
    serving = say("abcdef")
    decoder = serving.engine._decoder
    row = decoder._script
    decoder._script = lambda place: row(place) if place < 2 else RuntimeError('"secret"')
    *chunks, last = await api.events(CHAT, messages=HELLO, temperature=0)
    assert [c["choices"][0]["delta"]["content"] for c in chunks] == ["a", "b"]
    assert all(chunk["usage"] is None for chunk in chunks)
    assert last["error"]["type"] == "server_error"
    assert last["error"]["code"] == 500
    assert "secret" not in str(last)
    error = await api.refusal(500, CHAT, messages=HELLO, temperature=0)
    assert error["type"] == "server_error"


async def test_a_full_house_is_a_429_also_for_a_stream(api, say, environment):
    gate = Gate()
    environment(max_waiting=0)
    say("ab", gate=gate)
    body = {"messages": HELLO, "temperature": 0}
    first = asyncio.create_task(api.ask(CHAT, **body))
    assert await asyncio.to_thread(gate.reached.acquire, timeout=60)
    for stream in (False, True):
        response = await api.send(CHAT, body | {"stream": stream})
        assert refused(response, 429)["code"] == "busy"
        assert int(response["Retry-After"]) >= 1
    gate.open()
    await first


async def test_a_deadline_in_mid_stream_ends_it_with_an_error(api, say, environment):
    gate = Gate()
    environment(deadline_seconds=0.5)
    say("abcdef", gate=gate)
    gate.release(2)
    *chunks, last = await api.events(CHAT, messages=HELLO, temperature=0)
    assert [c["choices"][0]["delta"]["content"] for c in chunks] == ["a", "b"]
    assert last["error"]["code"] == 504
    gate.open()


async def test_while_the_model_loads_the_answer_is_503(api):
    assert (await api.refusal(503, CHAT, messages=HELLO))["code"] == "not_ready"
