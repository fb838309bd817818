"""Histories, tools and choices that no model could be shown."""

from __future__ import annotations

import pytest

from inference.chat.messages import (
    MAX_TOOLS,
    Message,
    Tool,
    ToolCall,
    ToolChoice,
    check_history,
    check_tools,
    uses_tools,
)
from inference.errors import Rejected

USER = Message(role="user", content="Hi")


def call(call_id="a", name="f", arguments="{}"):
    return ToolCall(id=call_id, name=name, arguments=arguments)


def asks(*calls, **fields):
    return Message(role="assistant", tool_calls=calls, **fields)


def result(call_id, content="rain"):
    return Message(role="tool", content=content, tool_call_id=call_id)


@pytest.mark.parametrize(
    "history",
    [
        (USER,),
        (Message(role="system", content=""), USER),
        (Message(role="developer", content="Obey."), USER),
        (USER, Message(role="assistant", content="Yes.", reasoning="Hm."), USER),
        (USER, Message(role="assistant", reasoning="Hm."), USER),  # cut short while it thought
        (USER, asks(call()), result("a")),
        (USER, asks(call(), call("b"), content="See."), result("b"), result("a"), USER),
        (USER, asks(call(), call("b")), result("b"), USER),
        (USER, asks(call()), result("a"), asks(call()), result("a")),  # ids may come again
        (USER, asks(call(arguments='{"a": [1, {"b": "\\u00e9"}]}'))),
    ],
)
def test_a_history_that_holds_together_passes(history):
    check_history(history)


@pytest.mark.parametrize(
    ("history", "param"),
    [
        ((), "messages"),
        ((Message(role="function", content="x"),), "messages[0].role"),
        ((Message(role="user"),), "messages[0].content"),
        ((Message(role="system"),), "messages[0].content"),
        ((USER, Message(role="assistant")), "messages[1].content"),
        ((USER, asks(call()), result("a", None)), "messages[2].content"),
        ((Message(role="user", content="x", tool_calls=(call(),)),), "messages[0].tool_calls"),
        ((Message(role="user", content="x", reasoning="y"),), "messages[0].reasoning"),
        ((Message(role="user", content="x", tool_call_id="a"),), "messages[0].tool_call_id"),
        ((USER, result(None)), "messages[1].tool_call_id"),
        ((USER, result("a")), "messages[1].tool_call_id"),
        ((USER, asks(call()), result("b")), "messages[2].tool_call_id"),
        ((USER, asks(call()), USER, result("a")), "messages[3].tool_call_id"),
        ((USER, asks(call()), result("a"), result("a")), "messages[3].tool_call_id"),
        ((USER, asks(call(), call())), "messages[1].tool_calls[1].id"),
        ((USER, asks(call(""))), "messages[1].tool_calls[0].id"),
        ((USER, asks(call(name="a b"))), "messages[1].tool_calls[0].function.name"),
    ],
)
def test_a_history_that_does_not_is_rejected_by_the_fields_name(history, param):
    with pytest.raises(Rejected) as raised:
        check_history(history)
    assert raised.value.param == param


@pytest.mark.parametrize(
    "arguments",
    ["", "[]", '"{}"', "null", "{", "{} {}", '{"a": NaN}', '{"a": 1e999}', '{"a": "\\ud800"}',
     '{"a":' * 99_999 + "1" + "}" * 99_999],
)  # fmt: skip
def test_arguments_that_are_not_the_json_of_an_object_are_rejected(arguments):
    with pytest.raises(Rejected) as raised:
        check_history((USER, asks(call(arguments=arguments))))
    assert raised.value.param == "messages[1].tool_calls[0].function.arguments"


TOOLS = (Tool(name="f"), Tool(name="g-1_A"))


@pytest.mark.parametrize(
    ("tools", "choice"),
    [
        ((), ToolChoice("none")),
        (TOOLS, ToolChoice("none")),
        (TOOLS, ToolChoice("auto")),
        (TOOLS, ToolChoice("required")),
        (TOOLS, ToolChoice("named", "f")),
    ],
)
def test_a_choice_that_the_tools_allow_passes(tools, choice):
    check_tools(tools, choice)


@pytest.mark.parametrize(
    ("tools", "choice", "param"),
    [
        ((), ToolChoice("auto"), "tool_choice"),
        ((), ToolChoice("required"), "tool_choice"),
        ((), ToolChoice("named", "f"), "tool_choice"),
        (TOOLS, ToolChoice("named", "h"), "tool_choice"),
        ((*TOOLS, TOOLS[0]), ToolChoice("auto"), "tools[2].function.name"),
        ((Tool(name=""),), ToolChoice("auto"), "tools[0].function.name"),
        ((Tool(name="a" * 65),), ToolChoice("auto"), "tools[0].function.name"),
        ((Tool(name="f\n"),), ToolChoice("auto"), "tools[0].function.name"),
        ((Tool(name="<|im_end|>"),), ToolChoice("auto"), "tools[0].function.name"),
        (tuple(Tool(name=f"f{n}") for n in range(MAX_TOOLS + 1)), ToolChoice("auto"), "tools"),
    ],
)
def test_tools_that_cannot_be_are_rejected_by_the_fields_name(tools, choice, param):
    with pytest.raises(Rejected) as raised:
        check_tools(tools, choice)
    assert raised.value.param == param


@pytest.mark.parametrize(
    ("history", "tools", "uses"),
    [
        ((USER,), (), False),
        ((USER,), TOOLS, True),
        ((USER, asks(call())), (), True),
        ((USER, asks(call()), result("a")), (), True),
    ],
)
def test_tools_are_used_where_they_are_given_or_were_called(history, tools, uses):
    assert uses_tools(history, tools) is uses


def test_a_function_without_parameters_takes_an_empty_object():
    assert Tool(name="f").parameters == {"type": "object", "properties": {}}
