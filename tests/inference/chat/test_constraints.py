"""Answers held to a schema while a random model draws them."""

from __future__ import annotations

import itertools
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import jsonschema_rs
import pytest
from transformers import Qwen2Config

from inference.chat import constraints
from inference.chat.constraints import MAX_KEPT, Grammars
from inference.chat.deltas import CallArguments, CallBegun
from inference.chat.grammar import MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, grammar
from inference.chat.messages import Tool, ToolChoice
from inference.chat.parsing import AssistantParser
from inference.engine.loading import vocabulary_of
from inference.engine.types import FinishReason
from inference.errors import InferenceFailed, Rejected
from tests.engine.running import run
from tests.fakes import tiny_engine, tiny_tokenizer
from tests.inference.chat.templates import tokenizer

AUTO = ToolChoice("auto")
REQUIRED = ToolChoice("required")

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 4},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "pets": {"type": "array", "items": {"$ref": "#/$defs/pet"}, "maxItems": 2},
    },
    "required": ["name", "age", "pets"],
    "additionalProperties": False,
    "$defs": {"pet": {"enum": ["cat", "dog", "\u00e9 \u2028\n"]}},
}
SWITCH = {
    "type": "object",
    "properties": {"on": {"type": "boolean"}, "room": {"enum": ["hall", "attic"]}},
    "required": ["on"],
    "additionalProperties": False,
}
TOOLS = (
    Tool(name="register", parameters=PERSON, strict=True),
    Tool(name="switch", description="Light", parameters=SWITCH),
)


@pytest.fixture(scope="module")
def engine():
    return tiny_engine("qwen2")


@pytest.fixture(scope="module")
def grammars(engine):
    return Grammars(engine.vocabulary)


def bias(engine, text, amount):
    """The settings that make a model of bytes favour the characters of a text."""
    return {"logit_bias": {engine.vocabulary.tokens.index(c.encode()): amount for c in text}}


def completion(engine, grammars, *, seed, wanted, **fields):
    """What the random model writes under the grammar, and why it ended."""
    settings = {"temperature": 1.0, "seed": seed, "max_tokens": 400} | fields
    steps = run(engine, "the moon", constraint=grammars.constraint(wanted), **settings)
    return engine.vocabulary.decode(step.token_id for step in steps), steps[-1].finish_reason


def calls_in(text, **settings):
    """The calls of a text, as a client puts them together; the text must be nothing but calls."""
    parser = AssistantParser(calls="all", **settings)
    deltas = [*parser.push(text), *parser.end("stop")]
    names = [delta.name for delta in deltas if isinstance(delta, CallBegun)]
    arguments = ["" for _ in names]
    for delta in deltas:
        assert isinstance(delta, CallBegun | CallArguments)
        if isinstance(delta, CallArguments):
            arguments[delta.index] += delta.fragment
    return list(zip(names, map(json.loads, arguments), strict=True))


def validate(value, schema):
    jsonschema_rs.validator_for(schema).validate(value)


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_has_its_schema(engine, grammars, seed):
    wanted = grammar(choice=ToolChoice("none"), response_schema=PERSON)
    text, reason = completion(engine, grammars, seed=seed, wanted=wanted)
    assert reason is FinishReason.EOS
    validate(json.loads(text), PERSON)


@pytest.mark.parametrize(
    ("text", "follows"),
    [
        ('{"on": true, "room": "hall"}', True),
        ('{"on":true}', False),
        ('{ "on": true}', False),
        ('{"on": true}\n', False),
    ],
)
def test_white_space_is_where_json_dumps_puts_it_and_nowhere_else(grammars, text, follows):
    assert accepting(grammars, grammar(choice=AUTO, response_schema=SWITCH))(text) is follows


@pytest.mark.parametrize("seed", range(4))
def test_any_object_is_an_object(engine, grammars, seed):
    wanted = grammar(choice=ToolChoice("none"), response_schema={"type": "object"})
    favour = bias(engine, '"}]', 12.0)  # or a random model would not come to an end
    text, reason = completion(engine, grammars, seed=seed, wanted=wanted, **favour)
    assert reason is FinishReason.EOS
    assert isinstance(json.loads(text), dict)


def test_each_choice_follows_the_grammar_by_itself(engine, grammars):
    wanted = grammar(choice=ToolChoice("none"), response_schema=SWITCH)
    steps = run(
        engine,
        "the moon",
        constraint=grammars.constraint(wanted),
        num_choices=3,
        temperature=1.0,
        seed=7,
        max_tokens=100,
    )
    steps.sort(key=lambda step: (step.choice, step.index))
    texts = [
        engine.vocabulary.decode(step.token_id for step in own)
        for _, own in itertools.groupby(steps, key=lambda step: step.choice)
    ]
    assert len(texts) == 3
    for text in texts:
        validate(json.loads(text), SWITCH)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["register", "switch"])
def test_a_named_function_is_called_once_and_as_its_schema_says(engine, grammars, name, seed):
    wanted = grammar(tools=TOOLS, choice=ToolChoice("named", name))
    text, reason = completion(engine, grammars, seed=seed, wanted=wanted)
    assert reason is FinishReason.EOS
    [(called, arguments)] = calls_in(text)
    assert called == name
    validate(arguments, {"register": PERSON, "switch": SWITCH}[name])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("parallel", [True, False])
def test_a_required_call_is_one_of_the_functions(engine, grammars, parallel, seed):
    wanted = grammar(tools=TOOLS, choice=REQUIRED, parallel=parallel)
    favour = bias(engine, "<\n", 3.0)  # to go on calling where the grammar lets it
    text, reason = completion(engine, grammars, seed=seed, wanted=wanted, max_tokens=480, **favour)
    if reason is FinishReason.LENGTH:  # the last of several calls was cut
        text = text[: text.rindex("</tool_call>") + len("</tool_call>")]
    calls = calls_in(text)
    assert len(calls) >= 1 if parallel else len(calls) == 1
    for name, arguments in calls:
        validate(arguments, {"register": PERSON, "switch": SWITCH}[name])


def test_required_comes_to_an_end(engine, grammars):
    follow = accepting(grammars, grammar(tools=TOOLS[1:], choice=REQUIRED))
    call = '<tool_call>\n{"name": "switch", "arguments": {"on": true}}\n</tool_call>'
    assert follow("\n".join([call] * 8))
    assert not follow("\n".join([call] * 9))


def accepting(grammars, wanted):
    """Whether a text can be all of an answer."""
    make = grammars.constraint(wanted)
    tokenizer = tiny_tokenizer()

    def follow(text):
        constraint = make()
        for token_id in tokenizer.encode(text):
            if not constraint.allowed()[token_id]:
                return False
            constraint.accept(token_id)
        return bool(constraint.allowed()[tokenizer.eos_token_id])

    return follow


def test_a_strict_function_may_be_called_within_free_text(grammars):
    follow = accepting(grammars, grammar(tools=TOOLS, choice=AUTO))
    register = '{"name": "register", "arguments": {"name": "Al", "age": 7, "pets": ["cat"]}}'
    assert follow("Hello <tool> \n<tool_cal {")
    assert follow(f"Hello.\n<tool_call>\n{register}\n</tool_call>")
    assert follow(f"<tool_call>\n{register}\n</tool_call>\n<tool_call>\n{register}\n</tool_call> .")
    assert follow('<tool_call>\n{"name": "switch", "arguments": {"anything": 1}}\n</tool_call>')
    assert not follow(f"<tool_call>\n{register}")
    assert not follow('<tool_call>\n{"name": "else", "arguments": {}}\n</tool_call>')
    assert not follow(f"<tool_call>\n{register.replace('7', '151')}\n</tool_call>")


def test_without_strict_functions_a_free_choice_is_free():
    assert grammar(tools=TOOLS[1:], choice=AUTO) is None
    assert grammar(tools=TOOLS, choice=ToolChoice("none")) is None
    assert grammar(choice=ToolChoice("none")) is None


def test_an_answer_with_a_schema_or_a_call_where_both_are_open(grammars):
    follow = accepting(
        grammars, grammar(tools=TOOLS[1:], choice=AUTO, response_schema={"type": "object"})
    )
    assert follow('{"a": [1, null]}')
    assert follow('<tool_call>\n{"name": "switch", "arguments": {}}\n</tool_call>')
    assert not follow("Hello")


def test_thoughts_come_first_and_are_free(grammars):
    switch = '<tool_call>\n{"name": "switch", "arguments": {"on": true}}\n</tool_call>'
    wanted = grammar(tools=TOOLS, choice=REQUIRED, reasons=True)
    follow = accepting(grammars, wanted)
    assert follow(switch)
    assert follow(f"<think>\nHm, <tool_call> or </thin?\n</think>\n\n{switch}")
    assert not follow("<think>\nHm.\n</think>\n\nHello")
    assert not follow(f"Hm. {switch}")


def test_before_free_text_a_thought_comes_first_and_may_speak_of_calls(grammars):
    follow = accepting(grammars, grammar(tools=TOOLS, choice=AUTO, reasons=True))
    thought = "<think>\nI write <tool_call> and then {.\n</think>\n\n"
    switch = '<tool_call>\n{"name": "switch", "arguments": {}}\n</tool_call>'
    assert follow(f"{thought}Hello.")
    assert follow(f"{thought}Hello.\n{switch}")
    assert not follow(f"{thought}Hello. <tool_call>")
    assert not follow("Hello.")


def test_a_thought_that_the_prompt_began_must_end(grammars):
    wanted = grammar(
        choice=AUTO, response_schema={"type": "object"}, reasons=True, thought_is_open=True
    )
    follow = accepting(grammars, wanted)
    assert follow("Hm.\n</think>\n\n{}")
    assert not follow("{}")


def test_the_end_of_sequence_is_all_that_follows_the_end(engine, grammars):
    constraint = grammars.constraint(
        grammar(choice=AUTO, response_schema={"type": "object", "additionalProperties": False})
    )()
    for byte in b"{}":
        constraint.accept(byte)
    eos = sorted(engine.vocabulary.eos_ids)
    assert constraint.allowed().nonzero()[0].tolist() == eos
    constraint.accept(eos[0])
    constraint.accept(eos[0])  # as with ignore_eos
    assert constraint.allowed().nonzero()[0].tolist() == eos


def test_a_text_that_is_certain_comes_in_the_models_own_tokens():
    qwen = tokenizer("")
    vocabulary = vocabulary_of(qwen, Qwen2Config(eos_token_id=qwen.eos_token_id), rows=len(qwen))
    tool = Tool(name="the", parameters={"const": {" moon": 1}})
    wanted = grammar(tools=(tool,), choice=ToolChoice("named", "the"))
    assert wanted is not None
    constraint = Grammars(vocabulary).constraint(wanted)()
    written = '<tool_call>\n{"name": "the", "arguments": {" moon": 1}}\n</tool_call>'
    ids = [*qwen.encode(written), qwen.eos_token_id]
    assert ids[0] == qwen.convert_tokens_to_ids("<tool_call>")
    for token_id in ids:
        assert constraint.allowed().nonzero()[0].tolist() == [token_id]
        constraint.accept(token_id)


def test_a_control_token_in_a_schema_is_the_text_of_its_name(engine, grammars):
    wanted = grammar(choice=AUTO, response_schema={"const": "<|im_end|>"})
    steps = run(engine, "x", constraint=grammars.constraint(wanted), max_tokens=50)
    assert not any(engine.vocabulary.is_special(step.token_id) for step in steps[:-1])
    assert engine.vocabulary.decode(step.token_id for step in steps) == '"<|im_end|>"'


def test_a_thousand_properties_can_be_followed(grammars):
    schema = {"type": "object", "properties": {f"p{n}": {"type": "null"} for n in range(1000)}}
    follow = accepting(grammars, grammar(choice=AUTO, response_schema=schema))
    assert follow('{"p0": null, "p999": null}')


def test_min_tokens_does_not_outlast_a_grammar(engine, grammars):
    wanted = grammar(choice=AUTO, response_schema={"type": "object", "maxProperties": 0})
    text, reason = completion(engine, grammars, seed=0, wanted=wanted, min_tokens=30)
    assert (text, reason) == ("{}", FinishReason.EOS)


def test_a_token_that_the_grammar_forbids_fails(grammars):
    constraint = grammars.constraint(grammar(choice=AUTO, response_schema=PERSON))()
    with pytest.raises(InferenceFailed):
        constraint.accept(ord("x"))


def nested(depth):
    schema: dict[str, object] = {"type": "string"}
    for _ in range((depth - 1) // 2):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "objct"}, "objct"),
        ({"type": "object", "not": {}}, "not"),
        ({"type": "object", "not": {}, "x-guidance": {"lenient": True}}, "not"),
        ({"type": "string", "format": "nonsense"}, "format"),
        ({"$ref": "http://example.org/schema"}, "example.org"),
        ({"$ref": "#/$defs/nobody"}, ""),
        ({"type": "integer", "minimum": 5, "maximum": 1}, "minimum"),
        ({"type": "string", "pattern": "(?=a)b"}, "regex"),
        ({"type": "string", "pattern": "(" * 20_000 + "a" + ")" * 20_000}, ""),
        ({"type": "object", "properties": {"a": 7}}, ""),
        ({"enum": ["x" * MAX_SCHEMA_BYTES]}, "65536"),
        (nested(MAX_SCHEMA_DEPTH + 1), "32"),
    ],
)
def test_a_schema_that_cannot_be_followed_is_rejected_by_name(grammars, schema, says):
    with pytest.raises(Rejected) as raised:
        grammars.constraint(grammar(choice=AUTO, response_schema=schema))
    assert raised.value.param == "response_format"
    assert says in raised.value.message
    assert len(raised.value.message) < 300
    assert "%" not in raised.value.message


def test_a_schema_of_the_greatest_depth_is_taken(grammars):
    assert grammars.constraint(grammar(choice=AUTO, response_schema=nested(MAX_SCHEMA_DEPTH - 1)))


def test_a_tools_schema_is_named_by_its_place():
    tools = (TOOLS[0], Tool(name="list", parameters={"type": "array"}))
    with pytest.raises(Rejected) as raised:
        grammar(tools=tools, choice=REQUIRED)
    assert raised.value.param == "tools[1].function.parameters"


def test_parameters_that_may_be_null_are_still_an_object(grammars):
    tool = Tool(name="f", parameters={**SWITCH, "type": ["object", "null"]})
    follow = accepting(grammars, grammar(tools=(tool,), choice=REQUIRED))
    assert follow('<tool_call>\n{"name": "f", "arguments": {"on": true}}\n</tool_call>')
    assert not follow('<tool_call>\n{"name": "f", "arguments": null}\n</tool_call>')


def test_only_the_schemas_that_are_followed_count():
    large = Tool(name="large", parameters={"title": "x" * MAX_SCHEMA_BYTES})
    assert grammar(tools=(TOOLS[0], large), choice=AUTO)
    assert grammar(tools=(TOOLS[0], large), choice=ToolChoice("named", "register"))
    with pytest.raises(Rejected) as raised:
        grammar(tools=(TOOLS[0], large), choice=REQUIRED)
    assert raised.value.param == "tools"


def test_words_that_are_not_known_are_refused_of_strict_functions_only(grammars):
    parameters = {**SWITCH, "not": {"type": "string"}}
    forced = ToolChoice("named", "f")
    loose = grammar(tools=(Tool(name="f", parameters=parameters),), choice=forced)
    assert grammars.constraint(loose)
    strict = grammar(tools=(Tool(name="f", parameters=parameters, strict=True),), choice=forced)
    with pytest.raises(Rejected) as raised:
        grammars.constraint(strict)
    assert raised.value.param == "tools"


def test_a_schema_that_keeps_the_compiler_busy_is_ended(grammars):
    patterns = [{"type": "string", "pattern": f"^.*a.{{{n}}}b.*$"} for n in range(40)]
    begun = time.monotonic()
    with pytest.raises(Rejected, match="too long"):
        grammars.constraint(grammar(choice=AUTO, response_schema={"allOf": patterns}))
    assert time.monotonic() - begun < 30


def test_of_many_grammars_the_last_ones_asked_for_are_kept(engine, monkeypatch):
    compiled = []
    monkeypatch.setattr(constraints, "find_error", compiled.append)  # which is slow, and in all
    grammars = Grammars(engine.vocabulary)

    def ask(number):
        schema = {"type": "object", "properties": {f"p{number}": SWITCH}}
        wanted = grammar(choice=AUTO, response_schema=schema)
        assert wanted is not None
        grammars.constraint(wanted)

    for number in [*range(MAX_KEPT), 0, MAX_KEPT, 0]:
        ask(number)
    assert len(compiled) == MAX_KEPT + 1
    ask(1)  # asked for longest ago
    assert len(compiled) == MAX_KEPT + 2


def test_many_threads_may_ask_at_once(engine, grammars):
    schemas = [{"type": "object", "properties": {f"p{n % 3}": SWITCH}} for n in range(6)]
    barrier = threading.Barrier(len(schemas))

    def first_mask(schema):
        barrier.wait()
        make = grammars.constraint(grammar(choice=AUTO, response_schema=schema))
        return make().allowed().nonzero()[0].tolist()

    with ThreadPoolExecutor(len(schemas)) as threads:
        masks = list(threads.map(first_mask, schemas))
    assert masks == [[ord("{")]] * len(schemas)
