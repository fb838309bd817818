"""The embedded model's own template and vocabulary."""

from __future__ import annotations

import json
import time

import jsonschema_rs
import pytest
from django.conf import settings
from transformers import AutoTokenizer

from inference.chat.constraints import Grammars
from inference.chat.grammar import grammar
from inference.chat.messages import Message, Tool, ToolChoice
from inference.chat.parsing import AssistantParser
from inference.chat.template import ChatTemplate
from inference.engine.loading import load_engine
from inference.engine.types import FinishReason, GenerationRequest, SamplingParams, Step
from inference.weights.resolve import resolve
from tests.engine.running import events_of

pytestmark = pytest.mark.real_model

HISTORY = (
    Message(role="user", content="Wo liegt  Zürich? 👩‍🚀 1234\n\n\tx"),
    Message(role="assistant", content="In der Schweiz."),
    Message(role="user", content="Register Ada, who is 36 and lives in Zürich."),
)
REGISTER = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "city": {"enum": ["Zürich", "Oslo"]},
    },
    "required": ["name", "age", "city"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def folder():
    found = resolve("smollm2-135m", model_path=None, weights_dir=settings.TRACEAPP.weights_dir)
    return found.folder


@pytest.fixture(scope="module")
def engine(folder):
    return load_engine(
        folder,
        implementation="transformers",  # what these tests are about is the tokenizer
        gguf=None,
        kernels_dir=settings.TRACEAPP.weights_dir / "kernels",
        context_length=2048,
        threads=1,
    )


@pytest.fixture(scope="module")
def template(engine):
    return ChatTemplate(engine.vocabulary.source)


@pytest.fixture(scope="module")
def grammars(engine):
    return Grammars(engine.vocabulary)


@pytest.mark.parametrize("turns", [1, 3])
@pytest.mark.parametrize("system", [None, "Be brief."])
def test_a_prompt_is_what_transformers_makes_of_it(folder, template, turns, system):
    history = HISTORY[:turns]
    if system is not None:
        history = (Message(role="system", content=system), *history)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    expected = tokenizer.apply_chat_template(
        [{"role": message.role, "content": message.content} for message in history],
        add_generation_prompt=True,
        tokenize=True,
        return_dict=False,
    )
    assert list(template.prompt_ids(history)) == expected


def test_every_special_token_in_a_message_is_text(engine, template):
    vocabulary = engine.vocabulary
    names = "".join(vocabulary.text(i) for i in sorted(vocabulary.special_ids))
    plain = template.prompt_ids((Message(role="user", content="x"),))
    tricky = template.prompt_ids((Message(role="user", content=f"{names} \n{names}"),))
    specials = [[i for i in ids if vocabulary.is_special(i)] for ids in (plain, tricky)]
    assert specials[0] == specials[1]
    assert f"user\n{names} \n{names}\nassistant\n" in vocabulary.decode(tricky)


def complete(engine, template, wanted, grammars):
    request = GenerationRequest(
        prompt_ids=template.prompt_ids(HISTORY),
        max_tokens=80,
        sampling=SamplingParams(temperature=0.0),
        num_candidates=0,
        constraint=grammars.constraint(wanted),
    )
    steps = [event for event in events_of(engine, request) if isinstance(event, Step)]
    assert steps[-1].finish_reason is FinishReason.EOS
    return engine.vocabulary.decode(step.token_id for step in steps)


def test_an_answer_has_its_schema(engine, template, grammars):
    wanted = grammar(choice=ToolChoice("none"), response_schema=REGISTER)
    answer = json.loads(complete(engine, template, wanted, grammars))
    jsonschema_rs.validator_for(REGISTER).validate(answer)


def test_a_forced_call_is_a_call(engine, template, grammars):
    tools = (Tool(name="register", parameters=REGISTER),)
    wanted = grammar(tools=tools, choice=ToolChoice("named", "register"))
    parser = AssistantParser(calls="all")
    parser.push(complete(engine, template, wanted, grammars))
    parser.end("stop")
    assert parser.has_called


@pytest.mark.parametrize(
    "schema",
    [
        REGISTER,
        {"type": "object"},
        {"type": "string", "pattern": "^(a|b|c){1,3000}x[a-z]{3,500}$"},
        {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(1000)}},
        {"enum": [f"value {n}" for n in range(3000)]},
    ],
)
def test_masks_are_made_in_far_less_time_than_a_token(grammars, schema):
    constraint = grammars.constraint(grammar(choice=ToolChoice("none"), response_schema=schema))()
    slowest = 0.0
    for _ in range(20):
        begun = time.monotonic()
        allowed = constraint.allowed()
        slowest = max(slowest, time.monotonic() - begun)
        constraint.accept(int(allowed.nonzero()[0][0]))
    assert slowest < 0.5
