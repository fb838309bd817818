"""
What an answer must look like, as a grammar: an answer in JSON, calls that must be made.

In llguidance's dialect of Lark. JSON is written as `json.dumps` writes it, which is what models
were shown in training, and which leaves no white space to fill an answer with. Thoughts come
before whatever is asked for, and are free.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from inference.chat.messages import Tool, ToolChoice
from inference.errors import Rejected

# A schema takes time and memory to compile by what it holds; real ones are far below these.
MAX_SCHEMA_BYTES: Final = 64 << 10  # of all that a request brings
MAX_SCHEMA_DEPTH: Final = 32
MAX_CALLS: Final = 8  # that "required" lets a model make; without an end, a weak one goes on

ANY_OBJECT: Final[Mapping[str, Any]] = {"type": "object"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grammar:
    """A grammar, and the field of the request that it was made from."""

    lark: str
    param: str


def grammar(
    *,
    tools: Sequence[Tool] = (),
    choice: ToolChoice,
    parallel: bool = True,
    response_schema: Mapping[str, Any] | None = None,
    reasons: bool = False,
    thought_is_open: bool = False,
) -> Grammar | None:
    """The grammar that a request's answer must follow, or None where it is free.

    `response_schema` is of the answer's JSON; `{"type": "object"}` where any object will do.
    `reasons`: the model may write `<think>` first; `thought_is_open`: the prompt did.

    Raises Rejected for a schema that is too large, too deep or of no object where one is needed.
    """
    forced = choice.forces_a_call
    answers = response_schema is not None and not forced
    called = [tool for tool in tools if choice.mode != "named" or tool.name == choice.name]
    follows = choice.mode == "auto" and (answers or any(tool.strict for tool in tools))
    calls = bool(called) and (forced or follows)
    if not answers and not calls:
        return None
    param = "response_format" if answers else "tools"
    rules: list[str] = []
    bodies: list[str] = []
    schemas: list[Mapping[str, Any]] = []
    if response_schema is not None and answers:
        _check_depth(response_schema, param)
        schemas.append(response_schema)
        rules.append(f"answer: {_json(response_schema)}")
        bodies.append("answer")
    if calls:
        # What is not strict is followed where a call is forced, as far as it can be.
        wanted = {t.name: t.parameters if t.strict or forced else ANY_OBJECT for t in called}
        schemas += wanted.values()
        rules += _call_rules(tools, wanted)
        if forced or answers:
            several = parallel and choice.mode != "named"
            bodies.append(f'call ("\\n" call){{0,{MAX_CALLS - 1}}}' if several else "call")
        else:
            rules += ["trigger[lazy]: TEXT OPEN", "TEXT: /(.|\\n)*/"]
            bodies.append("(trigger block)* TEXT")
    _check_size(schemas, param)
    thoughts = ""
    if reasons:
        # Free text could be a thought too: where it may follow, a thought must come first.
        thoughts = "thoughts? " if (forced or answers) and not thought_is_open else "thoughts "
        rules += _thought_rules(is_open=thought_is_open)
    start = f"start: {thoughts}({' | '.join(bodies)})"
    return Grammar(lark="\n".join(["%llguidance {}", start, *rules]) + "\n", param=param)


def _call_rules(tools: Sequence[Tool], wanted: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The rules for calls of the functions that are wanted, with the schema of each."""
    rules = ["call: OPEN block", 'OPEN: "<tool_call>"']
    names: list[str] = []
    for index, tool in enumerate(tools):
        if tool.name not in wanted:
            continue
        schema, param = wanted[tool.name], f"tools[{index}].function.parameters"
        _check_depth(schema, param)
        type_ = schema.get("type", "object")
        if type_ != "object" and not (isinstance(type_, list) and "object" in type_):
            raise Rejected(f"{param} must describe an object", param=param)
        begin = json.dumps(f'{{"name": {json.dumps(tool.name)}, "arguments": ')
        arguments = _json({**schema, "type": "object"}, lenient=not tool.strict)
        rules.append(f'call_{index}: {begin} {arguments} "}}"')
        names.append(f"call_{index}")
    return [*rules, f'block: "\\n" ({" | ".join(names)}) "\\n</tool_call>"']


def _thought_rules(*, is_open: bool) -> list[str]:
    opening = "" if is_open else "<think>"
    return [
        "thoughts: thought BREAK",
        f"thought[lazy]: /{opening}(.|\\n)*<\\/think>/",
        "BREAK: /\\n{0,2}/",
    ]


def _json(schema: Mapping[str, Any], *, lenient: bool = False) -> str:
    options = {
        "whitespace_flexible": False,
        "item_separator": ", ",
        "key_separator": ": ",
        "lenient": lenient,  # whether words of a schema that are not known are passed over
    }
    return f"%json {json.dumps({**schema, 'x-guidance': options})}"


def _check_size(schemas: Sequence[Mapping[str, Any]], param: str) -> None:
    size = sum(len(json.dumps(schema)) for schema in schemas)
    if size > MAX_SCHEMA_BYTES:
        raise Rejected(
            f"the schemas have {size} bytes, over the limit of {MAX_SCHEMA_BYTES}", param=param
        )


def _check_depth(schema: Mapping[str, Any], param: str) -> None:
    """Without recursion, which is what a deep schema is made to exhaust."""
    level: list[Any] = [schema]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_SCHEMA_DEPTH:
            raise Rejected(
                f"the schema is nested deeper than the limit of {MAX_SCHEMA_DEPTH}", param=param
            )
        level = [
            inner
            for value in level
            for inner in (value.values() if isinstance(value, Mapping) else value)
            if isinstance(inner, Mapping | list | tuple)
        ]
