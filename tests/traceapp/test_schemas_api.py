"""Answers and calls that must follow a schema, from a model that would say something else."""

from __future__ import annotations

import json

import jsonschema_rs
import pytest

from tests.fakes import scripted_engine, tiny_engine, tiny_tokenizer
from tests.traceapp.openai_api import CHAT, put_together
from tests.traceapp.test_chat import HELLO, SMALL, TEMPLATE, THINKS, TOOLS

CITY = {
    "type": "object",
    "properties": {"city": {"enum": ["Oslo", "Rome"]}, "warm": {"type": "boolean"}},
    "required": ["city", "warm"],
    "additionalProperties": False,
}
AS_CITY = {"type": "json_schema", "json_schema": {"name": "city", "strict": True, "schema": CITY}}


@pytest.fixture
def stubborn(install):
    """A model that would say one letter for ever."""

    def start(alias=SMALL):
        return install(scripted_engine("a" * 400, chat_template=TEMPLATE), alias=alias)

    return start


@pytest.mark.parametrize("alias", [SMALL, TOOLS, THINKS])
@pytest.mark.parametrize("temperature", [0, 1.5])
async def test_an_answer_follows_the_schema(api, stubborn, alias, temperature):
    stubborn(alias)
    body = {
        "messages": HELLO,
        "temperature": temperature,
        "seed": 4,
        "response_format": AS_CITY,
        "reasoning_effort": "none",
    }
    (choice,) = (await api.ask(CHAT, **body))["choices"]
    jsonschema_rs.validate(CITY, json.loads(choice["message"]["content"]))
    assert choice["finish_reason"] == "stop"
    (streamed,) = put_together(await api.chunks(CHAT, **body))
    assert streamed["message"]["content"] == choice["message"]["content"]


async def test_any_object_will_do_for_json_object(api, stubborn):
    stubborn()
    answer = await api.ask(
        CHAT,
        messages=HELLO,
        temperature=0,
        response_format={"type": "json_object"},
        logit_bias={str(tiny_tokenizer().encode("}")[0]): 100},
    )
    assert json.loads(answer["choices"][0]["message"]["content"]) == {}


@pytest.mark.parametrize(
    "choice", ["required", {"type": "function", "function": {"name": "weather"}}]
)
async def test_a_call_can_be_forced(api, stubborn, choice):
    stubborn(TOOLS)
    tool = {"type": "function", "function": {"name": "weather", "parameters": CITY}}
    body = {
        "messages": HELLO,
        "temperature": 0,
        "tools": [tool],
        "tool_choice": choice,
        "parallel_tool_calls": False,  # or this model would go on calling
    }
    (answer,) = (await api.ask(CHAT, **body))["choices"]
    assert answer["finish_reason"] == "tool_calls"
    for call in answer["message"]["tool_calls"]:
        assert call["function"]["name"] == "weather"
        jsonschema_rs.validate(CITY, json.loads(call["function"]["arguments"]))
    (streamed,) = put_together(await api.chunks(CHAT, **body))
    assert streamed["finish_reason"] == "tool_calls"


async def test_each_of_several_choices_follows_the_schema_on_its_own(api, install):
    engine = tiny_engine("llama")
    scripted = scripted_engine("", chat_template=TEMPLATE)
    engine.vocabulary = scripted.vocabulary
    install(engine)
    answer = await api.ask(CHAT, messages=HELLO, seed=1, n=4, response_format=AS_CITY)
    said = {choice["message"]["content"] for choice in answer["choices"]}
    assert len(said) > 1
    for content in said:
        jsonschema_rs.validate(CITY, json.loads(content))


@pytest.mark.parametrize(
    ("schema", "param"),
    [
        ({"type": "nonsense"}, "response_format"),
        ({"type": "string", "pattern": "("}, "response_format"),
        ({"$ref": "https://elsewhere.example/schema"}, "response_format"),
        ({"enum": ["x" * 70_000]}, "response_format"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_schema_that_cannot_be_followed_is_a_400(api, stubborn, schema, param, stream):
    stubborn()
    asked = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    error = await api.refusal(400, CHAT, messages=HELLO, response_format=asked, stream=stream)
    assert error["param"].startswith(param)
    assert len(error["message"]) < 400


@pytest.mark.parametrize(
    "asked",
    [{"type": "json_schema"}, {"type": "json_schema", "json_schema": {"name": "x"}}],
)
async def test_a_schema_that_is_missing_is_a_400(api, stubborn, asked):
    stubborn()
    error = await api.refusal(400, CHAT, messages=HELLO, response_format=asked)
    assert error["param"] == "response_format.json_schema.schema"
    await api.refusal(422, CHAT, messages=HELLO, response_format={"type": "xml"})


async def test_min_tokens_cannot_hold_where_a_schema_says_the_end(api, stubborn):
    stubborn()
    error = await api.refusal(400, CHAT, messages=HELLO, response_format=AS_CITY, min_tokens=50)
    assert error["param"] == "min_tokens"
