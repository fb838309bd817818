"""OpenAI's own client."""

from __future__ import annotations

import json
import socket
from typing import Literal

import openai
import pytest
from openai import OpenAI
from pydantic import BaseModel, Field

PROMPT = "The capital of France is"
QUESTION = [{"role": "user", "content": "What is the capital of France?"}]
GREEDY = {"temperature": 0, "max_tokens": 16}
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city.",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 8}, "days": {"enum": [1, 2]}},
            "required": ["city", "days"],
            "additionalProperties": False,
        },
    },
}
CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo", "days": 1}}\n</tool_call>'


class Place(BaseModel):
    city: str = Field(max_length=8)
    size: Literal["small", "large"]
    warm: bool


def client_of(server, **options):
    return OpenAI(base_url=f"{server.url}/v1", **({"max_retries": 0, "timeout": 100} | options))


@pytest.fixture(scope="module")
def client(embedded):
    return client_of(embedded)


def say(text):
    """A conversation that makes the parrot say that."""
    return [{"role": "user", "content": f"SAY <<{text}>>"}]


# --- Completions, on the embedded model ----------------------------------------------------------


def test_a_completion_is_the_same_streamed_and_not(client):
    asked = {"model": "smollm2-135m", "prompt": PROMPT, **GREEDY}
    whole = client.completions.create(**asked)
    *chunks, last = client.completions.create(stream=True, **asked)
    assert "Paris" in whole.choices[0].text
    assert whole.choices[0].finish_reason == "length"
    assert "".join(chunk.choices[0].text for chunk in chunks) == whole.choices[0].text
    assert last.choices == []
    assert last.usage == whole.usage
    assert whole.usage.completion_tokens == 16


def test_each_of_several_completions_is_streamed_under_its_index(client):
    asked = {"model": "m", "prompt": [PROMPT, "1, 2, 3,"], "n": 2, "seed": 0, "max_tokens": 8}
    whole = client.completions.create(**asked)
    texts = dict.fromkeys(range(4), "")
    for chunk in client.completions.create(stream=True, **asked):
        for choice in chunk.choices:
            texts[choice.index] += choice.text
    assert texts == {choice.index: choice.text for choice in whole.choices}


def test_logprobs_of_a_completion_with_its_prompt(client):
    asked = {"prompt": PROMPT, "echo": True, "logprobs": 2, "temperature": 0, "max_tokens": 4}
    (choice,) = client.completions.create(model="m", **asked).choices
    logprobs = choice.logprobs
    assert "".join(logprobs.tokens) == choice.text
    assert logprobs.token_logprobs[0] is None
    assert all(value < 0 for value in logprobs.token_logprobs[1:])
    for token, value, top in list(
        zip(logprobs.tokens, logprobs.token_logprobs, logprobs.top_logprobs, strict=True)
    )[-4:]:
        assert value == max(top.values()) == top[token]


# --- Chat, on the embedded model -----------------------------------------------------------------


def test_a_chat_is_the_same_by_the_accumulating_helper(client):
    asked = {"model": "smollm2-135m", "messages": QUESTION, **GREEDY}
    whole = client.chat.completions.create(**asked)
    deltas = []
    with client.chat.completions.stream(stream_options={"include_usage": True}, **asked) as stream:
        deltas += [event.delta for event in stream if event.type == "content.delta"]
        final = stream.get_final_completion()
    assert len(deltas) > 5
    assert final.choices[0].message.content == whole.choices[0].message.content == "".join(deltas)
    assert final.choices[0].message.role == "assistant"
    assert final.choices[0].finish_reason == whole.choices[0].finish_reason
    assert final.usage == whole.usage


def test_logprobs_of_a_chat_are_accumulated_as_they_are_answered(client):
    asked = {"model": "m", "messages": QUESTION, "logprobs": True, "top_logprobs": 3, **GREEDY}
    (choice,) = client.chat.completions.create(**asked).choices
    with client.chat.completions.stream(**asked) as stream:
        (streamed,) = stream.get_final_completion().choices
    assert streamed.logprobs.content == choice.logprobs.content
    spoken = b"".join(bytes(token.bytes) for token in choice.logprobs.content)
    assert spoken.decode() == choice.message.content
    for token in choice.logprobs.content:
        assert token.top_logprobs[0].logprob == token.logprob
        assert len(token.top_logprobs) == 3


def test_parse_gives_an_object_of_the_schema(client):
    asked = {"model": "m", "messages": QUESTION, "temperature": 0, "max_tokens": 64}
    parsed = client.chat.completions.parse(response_format=Place, **asked)
    assert isinstance(parsed.choices[0].message.parsed, Place)
    with client.chat.completions.stream(response_format=Place, **asked) as stream:
        final = stream.get_final_completion()
    assert final.choices[0].message.parsed == parsed.choices[0].message.parsed


def test_parse_says_so_when_the_answer_is_cut(client):
    with pytest.raises(openai.LengthFinishReasonError):
        client.chat.completions.parse(
            model="m", messages=QUESTION, response_format=Place, max_tokens=3
        )


def test_the_models_are_listed_and_read(client):
    (model,) = client.models.list().data
    assert model.id == "smollm2-135m"
    assert client.models.retrieve(model.id) == model


# --- Tools ---------------------------------------------------------------------------------------


def test_a_model_without_a_tool_parser_refuses_tools(client):
    with pytest.raises(openai.BadRequestError, match="tools") as refused:
        client.chat.completions.create(model="m", messages=QUESTION, tools=[WEATHER])
    assert refused.value.param == "tools"


@pytest.mark.parametrize(
    "choice", ["required", {"type": "function", "function": {"name": "weather"}}]
)
def test_a_forced_call_of_random_weights_has_the_arguments_of_its_schema(tiny, choice):
    asked = {"model": "m", "messages": QUESTION, "tools": [WEATHER], "tool_choice": choice}
    # Random weights would call again and again.
    asked |= {"parallel_tool_calls": False, "temperature": 0, "max_tokens": 128}
    client = client_of(tiny)
    with client.chat.completions.stream(**asked) as stream:
        streamed = stream.get_final_completion()
    found = []
    for answer in (client.chat.completions.create(**asked), streamed):
        assert answer.choices[0].finish_reason == "tool_calls"
        (call,) = answer.choices[0].message.tool_calls
        assert call.function.name == "weather"
        found.append(json.loads(call.function.arguments))
    assert found[0] == found[1]
    assert found[0].keys() == {"city", "days"}
    assert len(found[0]["city"]) <= 8
    assert found[0]["days"] in (1, 2)


def test_parse_reads_the_arguments_of_a_strict_tool(tiny):
    asked = {"tools": [openai.pydantic_function_tool(Place)], "tool_choice": "required"}
    asked |= {"parallel_tool_calls": False, "temperature": 0, "max_tokens": 128}
    answer = client_of(tiny).chat.completions.parse(model="m", messages=QUESTION, **asked)
    (call,) = answer.choices[0].message.tool_calls
    assert isinstance(call.function.parsed_arguments, Place)


@pytest.mark.parametrize("streams", [True, False])
def test_the_tools_loop(parrot, streams):
    """The model asks for the weather, is told, and tells."""
    client = client_of(parrot)
    messages = say(f"<think>\nI must look.\n</think>\n\nLet me see.\n{CALL}\n{CALL}")

    def answer_to(messages):
        asked = {"model": "m", "messages": messages, "tools": [WEATHER]}
        if not streams:
            return client.chat.completions.create(**asked).choices[0]
        with client.chat.completions.stream(**asked) as stream:
            return stream.get_final_completion().choices[0]

    choice = answer_to(messages)
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content == "Let me see."
    assert choice.message.reasoning.strip() == "I must look."
    calls = choice.message.tool_calls
    assert [json.loads(c.function.arguments) for c in calls] == [{"city": "Oslo", "days": 1}] * 2
    assert len({call.id for call in calls}) == 2

    messages.append(choice.message.model_dump(exclude_none=True, exclude={"parsed"}))
    told = "Oslo: 7 \N{DEGREE SIGN}C \N{SNOWFLAKE}"
    results = ["SAY <<Sun>>", f"SAY <<<think>\n\n</think>\n\n{told}>>"]
    for call, said in zip(calls, results, strict=True):
        messages.append({"role": "tool", "tool_call_id": call.id, "content": said})
    choice = answer_to(messages)
    assert choice.finish_reason == "stop"
    assert choice.message.content == told
    assert choice.message.tool_calls is None


def test_tools_that_may_not_be_called_are_not(parrot):
    asked = {"messages": say(f"No. {CALL}"), "tools": [WEATHER], "tool_choice": "none"}
    (choice,) = client_of(parrot).chat.completions.create(model="m", **asked).choices
    assert choice.finish_reason == "stop"
    assert choice.message.content == "No."
    assert choice.message.tool_calls is None


# --- Every class of error ------------------------------------------------------------------------


def chat(server, messages=QUESTION, **options):
    asked = {"model": "m", "max_tokens": 64} | options
    return client_of(server).chat.completions.create(messages=messages, **asked)


def test_bad_request(embedded):
    with pytest.raises(openai.BadRequestError) as error:
        chat(embedded, [{"role": "user", "content": "word " * 5000}], stream=True)
    assert error.value.code == "context_length_exceeded"


def test_unprocessable_entity(embedded):
    with pytest.raises(openai.UnprocessableEntityError) as error:
        chat(embedded, temperature="warm")
    assert "temperature" in error.value.message


def test_not_found(embedded):
    with pytest.raises(openai.NotFoundError) as error:
        client_of(embedded).models.retrieve("gpt-4")
    assert error.value.code == "model_not_found"


def test_a_part_of_the_api_that_is_not_here(embedded):
    with pytest.raises(openai.NotFoundError):
        client_of(embedded).embeddings.create(model="m", input="x")


def test_permission_denied(embedded):
    with pytest.raises(openai.PermissionDeniedError) as error:
        chat(embedded, extra_headers={"Origin": "https://elsewhere.example"})
    assert error.value.code == "origin_not_allowed"


def test_authentication_by_a_key_that_does_not_hold(embedded):
    with pytest.raises(openai.AuthenticationError) as error:
        client_of(embedded, api_key="tt_" + 43 * "A").models.list()
    assert error.value.code == "invalid_api_key"


def test_a_body_that_is_too_large(embedded):
    with pytest.raises(openai.APIStatusError) as error:
        chat(embedded, [{"role": "user", "content": "x" * 2_000_000}])
    assert error.value.status_code == 413
    assert error.value.code == "payload_too_large"


def test_rate_limit_while_the_model_is_busy_and_the_retry_after_it(parrot):
    """The first runs for two seconds; the second is refused at once, and served when it retries."""
    slow = chat(parrot, say("1WAIT2WAIT3"), stream=True)
    next(slow)
    with pytest.raises(openai.RateLimitError) as error:
        chat(parrot, say("Hello."))
    assert error.value.code == "busy"
    assert int(error.value.response.headers["retry-after"]) >= 1
    patient = client_of(parrot, max_retries=5)
    answer = patient.chat.completions.create(model="m", messages=say("Hello."))
    assert answer.choices[0].message.content == "Hello."
    slow.close()


def test_internal_server_error(parrot):
    with pytest.raises(openai.InternalServerError) as error:
        chat(parrot, say("FAIL"))
    assert error.value.status_code == 500
    assert error.value.code == "inference_failed"


def test_the_deadline(parrot):
    with pytest.raises(openai.InternalServerError) as error:
        chat(parrot, say("WAIT" * 5))
    assert error.value.status_code == 504
    assert error.value.code == "timeout"


def test_an_error_in_the_middle_of_a_stream(parrot):
    received = []

    def read():
        for chunk in chat(parrot, say("HalfFAIL"), stream=True):
            received.extend(choice.delta.content or "" for choice in chunk.choices)

    with pytest.raises(openai.APIError, match="failed") as error:
        read()
    assert "".join(received) == "Half"
    assert error.value.body["code"] == 500


def test_a_call_that_the_model_breaks_off_is_invalid_output(parrot):
    loose = {"type": "function", "function": {"name": "weather"}}  # not held to a grammar
    asked = {"messages": say('<tool_call>\n{"name": "weather", "arg'), "tools": [loose]}
    with pytest.raises(openai.APIError) as error:
        list(chat(parrot, **asked, stream=True))
    assert error.value.type == "invalid_model_output"
    assert error.value.body["code"] == 400
    with pytest.raises(openai.BadRequestError) as error:
        chat(parrot, **asked)
    assert error.value.type == "invalid_model_output"


def test_a_client_that_does_not_wait(parrot):
    with pytest.raises(openai.APITimeoutError):
        client_of(parrot, timeout=0.5).chat.completions.create(model="m", messages=say("WAIT" * 2))


def test_no_server(parrot):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = OpenAI(base_url=f"http://127.0.0.1:{unused.getsockname()[1]}/v1", max_retries=0)
        with pytest.raises(openai.APIConnectionError):
            nobody.models.list()
