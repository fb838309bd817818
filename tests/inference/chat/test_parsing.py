"""An assistant's text taken apart, wherever its pieces end."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.chat.deltas import CallArguments, CallBegun, ContentText, Delta, ReasoningText
from inference.chat.parsing import AssistantParser
from inference.errors import InvalidModelOutput

CALL = '<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>'


def parse(pieces, *, reason="stop", **settings):
    """(reasoning, content, [(name, arguments)]) of a text that comes in pieces."""
    ids = map(str, itertools.count())
    parser = AssistantParser(new_id=lambda: next(ids), **settings)
    deltas = [delta for piece in pieces for delta in parser.push(piece)]
    return gathered(deltas + parser.end(reason))


def gathered(deltas: list[Delta]):
    """The deltas put together as a client does it, which holds them to the rules of a stream."""
    reasoning, content, calls = "", "", []
    for delta in deltas:
        match delta:
            case ReasoningText(text):
                assert text
                reasoning += text
            case ContentText(text):
                assert text
                content += text
            case CallBegun(index, call_id, name):
                assert (index, call_id) == (len(calls), str(index))
                calls.append((name, ""))
            case CallArguments(index, fragment):
                assert fragment
                assert index == len(calls) - 1
                name, before = calls[index]
                calls[index] = (name, before + fragment)
    return reasoning, content, calls


def in_every_way(text):
    """The text whole, by the character, and in two pieces cut at every place."""
    yield [text]
    yield list(text)
    for place in range(1, len(text)):
        yield [text[:place], text[place:]]


# Text, what it is with tools and thoughts: reasoning, content, calls.
CASES = {
    "plain": ("Hello, world", "", "Hello, world", []),
    "empty": ("", "", "", []),
    "only white space": (" \n ", "", " \n ", []),
    "white space kept": ("  a \n\n b\n", "", "  a \n\n b\n", []),
    "call": (CALL, "", "", [("f", '{"a": 1}')]),
    "content, then a call": ("Let me see.\n" + CALL, "", "Let me see.", [("f", '{"a": 1}')]),
    "content around a call": (f"a \n{CALL}\n\nb c", "", "ab c", [("f", '{"a": 1}')]),
    "two calls": (f"{CALL}\n{CALL}\n", "", "", [("f", '{"a": 1}')] * 2),
    "no white space": (
        '<tool_call>{"name":"f","arguments":{"a":1}}</tool_call>',
        "",
        "",
        [("f", '{"a":1}')],
    ),
    "list": (
        '<tool_call>[{"name": "f", "arguments": {}} , {"name": "g", "arguments": {"b": [{}]}}]'
        "</tool_call>",
        "",
        "",
        [("f", "{}"), ("g", '{"b": [{}]}')],
    ),
    "empty list": ("x<tool_call>[ ]</tool_call>", "", "x", []),
    "empty arguments": (
        '<tool_call>{"name": "f", "arguments": {}}</tool_call>',
        "",
        "",
        [("f", "{}")],
    ),
    "no arguments": ('<tool_call>{"name": "f"}</tool_call>', "", "", [("f", "{}")]),
    "null arguments": (
        '<tool_call>{"name": "f", "arguments": null}</tool_call>',
        "",
        "",
        [("f", "{}")],
    ),
    "arguments before the name": (
        '<tool_call>{"arguments": {"a": "x"}, "name": "f"}</tool_call>',
        "",
        "",
        [("f", '{"a": "x"}')],
    ),
    "other keys": (
        '<tool_call>{"id": 7 , "name": "f", "on": true, "arguments": {}, "x": [1, {"y": "}"}]}'
        "</tool_call>",
        "",
        "",
        [("f", "{}")],
    ),
    "arguments as a string": (
        '<tool_call>{"name": "f", "arguments": "{\\"a\\": \\"\\\\n\\u00e9\\"}"}</tool_call>',
        "",
        "",
        [("f", '{"a": "\\né"}')],
    ),
    "braces and quotes in strings": (
        '<tool_call>{"name": "f", "arguments": {"a": "}]{\\"</tool_call>\\\\", "b": "{"}}'
        "</tool_call>",
        "",
        "",
        [("f", '{"a": "}]{\\"</tool_call>\\\\", "b": "{"}')],
    ),
    "escapes": (
        '<tool_call>{"name": "f\\u00e9", "arguments": {"a": "\\ud83d\\ude00 \\u00e9 😀"}}'
        "</tool_call>",
        "",
        "",
        [("fé", '{"a": "\\ud83d\\ude00 \\u00e9 😀"}')],
    ),
    "numbers last": (
        '<tool_call>{"name": "f", "arguments": {"a": -1.5e3, "b": [true, null, 12]}}</tool_call>',
        "",
        "",
        [("f", '{"a": -1.5e3, "b": [true, null, 12]}')],
    ),
    "a beginning of the mark": ("a <tool_call", "", "a <tool_call", []),
    "a false mark": ("a <tool_cal> <<tool <", "", "a <tool_cal> <<tool <", []),
    "a mark after a false one": (f"<tool<{CALL}", "", "<tool<", [("f", '{"a": 1}')]),
    "a closing mark alone": ("a </tool_call> b", "", "a </tool_call> b", []),
    "thoughts": ("<think>\nHm.\nSo.\n</think>\n\nYes.\n", "Hm.\nSo.", "Yes.\n", []),
    "thoughts after white space": ("\n <think>Hm.</think>Yes.", "Hm.", "Yes.", []),
    "no thoughts": ("<think>\n\n</think>\n\nYes.", "", "Yes.", []),
    "thoughts that do not end": ("<think>\nHm. </thin", "Hm. </thin", "", []),
    "a beginning of thoughts": ("<thin", "", "<thin", []),
    "a later mark is text": ("I <think> so</think>.", "", "I <think> so</think>.", []),
    "signs in thoughts": ("<think>a < b <b> \n\n c<</think>d", "a < b <b> \n\n c<", "d", []),
    "thoughts and a call": (f"<think>\nHm.\n</think>\n\n{CALL}", "Hm.", "", [("f", '{"a": 1}')]),
    "thoughts, content and a call": (
        f"<think>\nHm.\n</think>\n\nYes.\n{CALL}",
        "Hm.",
        "Yes.",
        [("f", '{"a": 1}')],
    ),
    "a call closes thoughts": (f"<think>\nHm.\n{CALL}", "Hm.", "", [("f", '{"a": 1}')]),
    "thoughts that speak of calls": (
        "<think>\nI use <tool_call> and </tool_call> tags.\n</think>\n\nYes.",
        "I use <tool_call> and </tool_call> tags.",
        "Yes.",
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_parts_are_the_same_wherever_the_text_is_cut(name):
    text, *expected = CASES[name]
    for pieces in in_every_way(text):
        assert parse(pieces, calls="all", reasons=True) == tuple(expected), pieces


@pytest.mark.parametrize("name", CASES)
def test_every_call_of_the_table_has_the_json_of_an_object(name):
    assert all(isinstance(json.loads(arguments), dict) for _, arguments in CASES[name][3])


MARKS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<", "\n", " ", "a", '{"', '"}', "["]


@given(
    st.lists(st.sampled_from(MARKS) | st.text(max_size=3), max_size=12),
    st.data(),
    st.booleans(),
    st.sampled_from(["all", "first", "hidden", "ignored"]),
)
def test_any_text_gives_the_same_parts_however_it_is_cut(parts, data, reasons, calls):
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]

    def outcome(pieces):
        try:
            return parse(pieces, reasons=reasons, calls=calls)
        except InvalidModelOutput as error:
            return error.message

    assert outcome(pieces) == outcome([text])


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    # No half of a surrogate pair: a model's text is decoded UTF-8.
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=4), JSON, max_size=4),
    st.text(min_size=1),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 1]),
    st.integers(1, 9),
)
def test_a_call_that_is_written_is_the_call_that_is_read(
    arguments, name, as_string, ascii_only, indent, step
):
    written = json.dumps(arguments, ensure_ascii=ascii_only, indent=indent)
    call = {"name": name, "arguments": written if as_string else arguments}
    text = f"<tool_call>{json.dumps(call, ensure_ascii=ascii_only, indent=indent)}</tool_call>"
    pieces = [text[place : place + step] for place in range(0, len(text), step)]
    reasoning, content, [(read_name, read)] = parse(pieces, calls="all")
    assert (reasoning, content, read_name) == ("", "", name)
    assert json.loads(read) == arguments


@pytest.mark.parametrize(
    "block",
    [
        "nothing",
        '"f"',
        "{}",
        '{"arguments": {}}',
        '{"name": 7}',
        '{"name": ""}',
        '{"name": "f", "name": "g"}',
        '{"name": "f", "arguments": {}, "arguments": {}}',
        '{"name": "f", "arguments": []}',
        '{"name": "f", "arguments": 7}',
        '{"name": "f", "arguments": "[]"}',
        '{"name": "f", "arguments": "{"}',
        '{"name": "f", "arguments": {"a": "he said "hi" to me"}}',
        '{"name": "f", "arguments": {"a": NaN}}',
        '{"name": "f", "arguments": {"a": 1e999}}',
        '{"name": "\\ud800"}',
        '{"name": "f", "arguments": {"a": "\\udc00"}}',
        '{"name": "f", "arguments": "{\\"a\\": \\"\\ud800\\"}"}',
        '{"name": "f", "arguments": {"a": 1,}}',
        '{"name": "f", "arguments": {"a": ]}}',
        '{"name": "f", "arguments": {"a": "\n"}}',
        '{"name": "f", "arguments": {"a": "\\x"}}',
        '{"name": "f", "arguments": ' + '{"a":' * 99_999 + "1" + "}" * 99_999 + "}",
        '{"name": "f", "x": nonsense}',
        '{"name": "f",}',
        '{"name" "f"}',
        '{name: "f"}',
        '{"name": "f"} {"name": "g"}',
        '{"name": "f"}}',
        '[{"name": "f"},]',
        '[{"name": "f"} {"name": "g"}]',
        "[7]",
    ],
)
def test_a_block_that_is_no_call_is_an_error(block):
    for pieces in ([f"<tool_call>{block}</tool_call>"], f"<tool_call>{block}</tool_call>"):
        with pytest.raises(InvalidModelOutput):
            parse(pieces, calls="all")


@pytest.mark.parametrize("place", range(len("<tool_call>"), len(CALL)))
def test_a_normal_end_inside_a_block_is_an_error_and_a_cut_is_none(place):
    with pytest.raises(InvalidModelOutput):
        parse([CALL[:place]], calls="all")
    _, content, calls = parse([CALL[:place]], calls="all", reason="length")
    assert content == ""
    assert [name for name, _ in calls] in ([], ["f"])


@pytest.mark.parametrize(("text", "called"), [(CALL, True), (CALL[:-14], False), ("a", False)])
def test_only_a_whole_call_counts_as_called(text, called):
    parser = AssistantParser(calls="all")
    parser.push(text)
    assert parser.has_called is called


def test_the_name_comes_first_and_strings_come_as_they_are_written():
    parser = AssistantParser(calls="all", new_id=lambda: "call_1")
    assert parser.push('<tool_call>\n{"name": "f"') == [CallBegun(0, "call_1", "f")]
    assert parser.push(', "arguments": {"text": "ab') == [CallArguments(0, '{"text": "ab')]
    assert parser.push("cd") == [CallArguments(0, "cd")]
    assert parser.push('", "n": 1') == [CallArguments(0, '", "n": ')]
    assert parser.push("2") == []
    assert parser.push("}") == [CallArguments(0, "12}")]
    assert parser.push("}\n</tool_call>") == []


def test_every_call_has_an_id_of_its_own():
    parser = AssistantParser(calls="all")
    ids = [delta.id for delta in parser.push(CALL * 2) if isinstance(delta, CallBegun)]
    assert len(set(ids)) == 2
    assert all(call_id.startswith("call_") for call_id in ids)


def test_a_lone_beginning_of_a_mark_is_held_back_until_the_end():
    parser = AssistantParser(calls="all")
    assert parser.push("a <tool_call") == [ContentText("a")]
    assert parser.end("stop") == [ContentText(" <tool_call")]


def test_where_no_tools_are_given_a_block_is_text():
    assert parse([CALL], calls="ignored") == ("", CALL, [])


@pytest.mark.parametrize(
    "block", [CALL, "<tool_call>nonsense</tool_call>", "<tool_call>never closed"]
)
def test_hidden_blocks_are_passed_over_unread(block):
    assert parse([f"a\n{block}"], calls="hidden") == ("", "a", [])
    parser = AssistantParser(calls="hidden")
    parser.push(block)
    assert not parser.has_called


def test_only_the_first_call_can_be_asked_for():
    assert parse([CALL * 3 + "b"], calls="first") == ("", "b", [("f", '{"a": 1}')])


def test_a_prompt_that_ends_in_a_thought_leaves_the_closing_mark_alone():
    for pieces in in_every_way("\nHm.\n</think>\n\nYes."):
        assert parse(pieces, reasons=True, thought_is_open=True) == ("Hm.", "Yes.", [])


def test_a_model_that_does_not_reason_writes_think_as_text():
    assert parse(["<think>a</think>b"]) == ("", "<think>a</think>b", [])


@pytest.mark.parametrize("thinking", [True, False])
def test_stop_strings_sleep_while_the_model_thinks(thinking):
    parser = AssistantParser(reasons=True, thinking=thinking)
    asleep = []
    for character in "<think>\na</think>\n\nb":
        asleep.append(parser.stops_sleep)
        parser.push(character)
    # Up to and with the closing mark; from the opening mark's end, or from the beginning.
    begin = 0 if thinking else len("<think>")
    end = len("<think>\na</think>")
    assert asleep == [begin <= place < end for place in range(len(asleep))]


def test_stop_strings_are_awake_where_nobody_reasons():
    assert not AssistantParser().stops_sleep
