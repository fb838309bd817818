"""langchain-openai: chains of messages, tools and schemas."""

from __future__ import annotations

from typing import Literal

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAI
from pydantic import BaseModel, Field


class Place(BaseModel):
    """A place."""

    city: str = Field(max_length=8)
    size: Literal["small", "large"]


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"SAY <<<think>\n\n</think>\n\nSun in {city}.>>"


def chat(server, **options):
    given = {"temperature": 0, "max_tokens": 64, "max_retries": 0} | options
    return ChatOpenAI(model="m", base_url=f"{server.url}/v1", **given)


def test_a_chat_is_the_same_streamed_and_not(embedded):
    model = chat(embedded, stream_usage=True)
    whole = model.invoke("What is the capital of France?")
    first, *rest = model.stream("What is the capital of France?")
    streamed = sum(rest, start=first)
    assert "Paris" in whole.content
    assert streamed.content == whole.content
    assert streamed.usage_metadata == whole.usage_metadata


def test_a_completion_goes_on(embedded):
    model = OpenAI(model="m", base_url=f"{embedded.url}/v1", temperature=0, max_tokens=8)
    assert "Paris" in model.invoke("The capital of France is")


def test_logprobs_come_with_the_answer(embedded):
    answer = chat(embedded, logprobs=True, top_logprobs=2).invoke("What is the capital of France?")
    content = answer.response_metadata["logprobs"]["content"]
    assert "".join(token["token"] for token in content) == answer.content


@pytest.mark.parametrize("method", ["json_schema", "function_calling"])
def test_a_structured_answer(tiny, method):
    """Of random weights: one by a schema of the answer, one by a call of a named function."""
    model = chat(tiny, max_tokens=128).with_structured_output(Place, method=method, strict=True)
    assert isinstance(model.invoke("Name a city."), Place)


@pytest.mark.parametrize("streams", [True, False])
def test_a_tool_is_called_and_its_result_is_told(parrot, streams):
    model = chat(parrot).bind_tools([weather])
    call = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
    messages = [HumanMessage(f"SAY <<{call}>>")]

    def answer():
        if not streams:
            return model.invoke(messages)
        first, *rest = model.stream(messages)
        return sum(rest, start=first)

    asked = answer()
    (wanted,) = asked.tool_calls
    assert (wanted["name"], wanted["args"]) == ("weather", {"city": "Oslo"})
    messages += [asked, ToolMessage(weather.invoke(wanted["args"]), tool_call_id=wanted["id"])]
    assert answer().content == "Sun in Oslo."
