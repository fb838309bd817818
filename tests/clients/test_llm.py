"""The `llm` command line, as a person runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml


def configure(*models):
    folder = Path(os.environ["LLM_USER_PATH"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "extra-openai-models.yaml").write_text(yaml.safe_dump(list(models)))


def llm(*arguments):
    ended = subprocess.run(
        [sys.executable, "-m", "llm", *arguments], capture_output=True, text=True, timeout=110
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture(autouse=True)
def models(embedded, parrot):
    configure(
        {
            "model_id": "small",
            "model_name": "smollm2-135m",
            "api_base": f"{embedded.url}/v1",
            "supports_schema": True,
        },
        {
            "model_id": "base",
            "model_name": "smollm2-135m",
            "api_base": f"{embedded.url}/v1",
            "completion": True,
        },
        {
            "model_id": "parrot",
            "model_name": "qwen3-0.6b",
            "api_base": f"{parrot.url}/v1",
            "supports_tools": True,
        },
    )


def test_the_models_are_known():
    listed = llm("models")
    assert all(f": {name}" in listed for name in ("small", "base", "parrot"))


def test_a_prompt_is_answered_alike_streamed_and_not():
    asked = ("-m", "small", "What is the capital of France?", "-o", "temperature", "0")
    answer = llm(*asked, "-o", "max_tokens", "16")
    assert "Paris" in answer
    assert llm(*asked, "-o", "max_tokens", "16", "--no-stream") == answer


def test_a_completion_goes_on():
    options = ("-o", "temperature", "0", "-o", "max_tokens", "8")
    assert "Paris" in llm("-m", "base", "The capital of France is", *options)


def test_an_answer_follows_a_schema():
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 10}, "people": {"type": "boolean"}},
        "required": ["city", "people"],
    }
    asked = ("-m", "small", "Name a city.", "--schema", json.dumps(schema), "--no-stream")
    answer = json.loads(llm(*asked))
    assert isinstance(answer["people"], bool)


@pytest.mark.parametrize("more", [(), ("--no-stream",)])
def test_a_tool_is_called_and_its_result_is_told(more):
    function = (
        'def weather(city: str) -> str:\n    "Tell it."\n    return f"SAY <<Sun in {city}.>>"'
    )
    call = '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
    said = llm("-m", "parrot", f"SAY <<{call}>>", "--functions", function, *more)
    assert said.strip() == "Sun in Oslo."
