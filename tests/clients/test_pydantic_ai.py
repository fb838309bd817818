"""pydantic-ai: an agent library that checks every answer against OpenAI's schema."""

from __future__ import annotations

from typing import Literal

import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel, Field
from pydantic_ai import Agent, NativeOutput, ToolOutput
from pydantic_ai.messages import ThinkingPart, ToolReturnPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

GREEDY = {"temperature": 0, "max_tokens": 64}


class Place(BaseModel):
    city: str = Field(max_length=8)
    size: Literal["small", "large"]


def agent_of(server, **options):
    client = AsyncOpenAI(base_url=f"{server.url}/v1", max_retries=0, timeout=100)
    return Agent(OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client)), **options)


def test_a_plain_answer_and_what_it_took(embedded):
    ran = agent_of(embedded).run_sync("What is the capital of France?", model_settings=GREEDY)
    assert "Paris" in ran.output
    assert ran.usage.output_tokens > 3
    assert ran.usage.requests == 1


def test_a_structured_answer_by_a_schema(embedded):
    agent = agent_of(embedded, output_type=NativeOutput(Place))
    assert isinstance(agent.run_sync("Name a city.", model_settings=GREEDY).output, Place)


def test_a_structured_answer_by_a_forced_call(tiny):
    agent = agent_of(tiny, output_type=ToolOutput(Place, strict=True))
    settings = GREEDY | {"max_tokens": 128, "parallel_tool_calls": False}
    assert isinstance(agent.run_sync("Name a city.", model_settings=settings).output, Place)


def test_an_agent_thinks_calls_its_tool_and_answers(parrot):
    agent = agent_of(parrot)

    @agent.tool_plain
    def weather(city: str) -> str:
        """The weather of a city."""
        return f"SAY <<<think>\n\n</think>\n\nSun in {city}.>>"

    call = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
    ran = agent.run_sync(f"SAY <<<think>\nI must look.\n</think>\n\n{call}>>")
    assert ran.output == "Sun in Oslo."
    parts = [part for message in ran.all_messages() for part in message.parts]
    assert any(isinstance(p, ThinkingPart) and "I must look." in p.content for p in parts)
    assert [part.tool_name for part in parts if isinstance(part, ToolReturnPart)] == ["weather"]


@pytest.mark.parametrize("text", ["Hello.", "\N{SNOWFLAKE} und mehr"])
def test_a_streamed_answer(parrot, text):
    ran = agent_of(parrot).run_stream_sync(f"SAY <<{text}>>")
    pieces = list(ran.stream_text(delta=True, debounce_by=None))
    assert "".join(pieces) == text
    assert len(pieces) > 1
