"""
From a conversation to the prompt's token ids, by the model's own template.

A template writes control tokens by name (`<|im_start|>`), and so might a caller, who must not
be able to: before rendering, the characters that such names begin and end with are replaced by
stand-ins in every string of the caller's. What is then found by name was written by the
template. The rest is read as plain text, with the characters put back.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from jinja2 import Template, TemplateError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

from inference.chat import think
from inference.chat.jsontext import read_object
from inference.chat.messages import Message, Tool
from inference.engine.vocabulary import TokenizerSource
from inference.errors import Rejected

# A template is a program. None that is approved comes near these.
MAX_CHARACTERS: Final = 8 << 20  # eight times the largest body: escapes of JSON in JSON
MAX_SECONDS: Final = 2.0

# Half of a surrogate pair stands alone in no text that a request can carry: a private mark.
STAND_INS: Final = range(0xDC00, 0xDC80)


class ChatTemplate:
    """One model's template with its tokenizer. Any number of threads may use it at once."""

    def __init__(
        self,
        source: TokenizerSource,
        *,
        splits_thoughts: bool = False,
        max_characters: int = MAX_CHARACTERS,
        max_seconds: float = MAX_SECONDS,
    ) -> None:
        """`splits_thoughts`: whether `<think>` inside an assistant's content is its reasoning.

        Raises ValueError for a tokenizer without a template, or one that is not Jinja.
        """
        if source.chat_template is None:
            raise ValueError("the tokenizer has no chat template")
        try:
            self._template = _compile(source.chat_template)
        except TemplateError as error:
            raise ValueError(f"the chat template does not compile: {error}") from error
        spec = json.loads(source.json)
        added = {token["content"]: int(token["id"]) for token in spec["added_tokens"]}
        self._special_tokens = dict(source.special_tokens)
        self._splits_thoughts = splits_thoughts
        self._max_characters = max_characters
        self._max_seconds = max_seconds
        self._control_ids = added
        names = sorted(added, key=len, reverse=True)  # the longest first, as the tokenizer has it
        self._control = re.compile(f"({'|'.join(map(re.escape, names))})") if names else None
        edges = sorted({ord(character) for name in names for character in (name[0], name[-1])})
        self._hide = dict(zip(edges, STAND_INS[: len(edges)], strict=True))
        self._show = {mark: edge for edge, mark in self._hide.items()}
        # One of its own, which is never told to pad or to cut and so may be shared by threads.
        self._plain = Tokenizer.from_str(json.dumps(_without_control(spec)))

    def prompt_ids(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> tuple[int, ...]:
        """The tokens of the conversation, up to where the assistant is to speak.

        The history must have passed `check_history`. Raises Rejected where the template has no
        place for it. A long one takes a while: call it on a thread that may wait.
        """
        return self._encode(self.render(messages, tools=tools, kwargs=kwargs))

    def render(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> str:
        """The prompt as text, with stand-ins in whatever was the caller's."""
        try:
            variables: dict[str, Any] = {
                **self._special_tokens,
                **self._hidden(dict(kwargs or {})),
                "messages": [self._hidden_message(m) for m in _in_order(messages)],
                "tools": [self._hidden(_tool(tool)) for tool in tools] or None,
                "documents": None,
                "add_generation_prompt": True,
            }
            return self._generate(variables)
        except Exception as error:  # a template is a program: it may raise anything
            raise Rejected(
                "the model's chat template cannot show these messages", param="messages"
            ) from error

    def leaves_thought_open(self, prompt_ids: Sequence[int]) -> bool:
        """Whether the prompt ends inside a thought, so that the answer holds only its end."""
        opening, closing = self._control_ids.get(think.OPEN), self._control_ids.get(think.CLOSE)
        # A line break or two may follow the mark; whatever else does is an answer.
        end = [token_id for token_id in prompt_ids[-3:] if token_id in (opening, closing)]
        return bool(end) and end[-1] == opening

    def shown(self, rendered: str) -> str:
        """What `render` gave, with the caller's own characters back in place."""
        return rendered.translate(self._show)

    def _generate(self, variables: Mapping[str, Any]) -> str:
        """Render piece by piece, so that a template without end has one."""
        deadline = time.monotonic() + self._max_seconds
        pieces: list[str] = []
        characters = 0
        for piece in self._template.generate(**variables):
            pieces.append(piece)
            characters += len(piece)
            if characters > self._max_characters or time.monotonic() > deadline:
                raise TemplateError("the template does not come to an end")
        return "".join(pieces)

    def _encode(self, rendered: str) -> tuple[int, ...]:
        stretches = self._control.split(rendered) if self._control else [rendered]
        ids: list[int] = []
        for place, stretch in enumerate(stretches):
            if place % 2:  # what the pattern found
                ids.append(self._control_ids[stretch])
            elif stretch:
                text = self.shown(stretch)
                ids += self._plain.encode(text, add_special_tokens=False).ids
        return tuple(ids)

    def _hidden_message(self, message: Message) -> dict[str, Any]:
        content, reasoning = message.content or "", message.reasoning
        if self._splits_thoughts and message.role == "assistant" and reasoning is None:
            reasoning, content = think.split(content)
        shown: dict[str, Any] = {"content": content}
        if reasoning is not None:
            shown["reasoning_content"] = reasoning
        if message.tool_calls:
            shown["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    # Templates write it as JSON, so it must not be text that holds JSON.
                    "function": {"name": call.name, "arguments": read_object(call.arguments)},
                }
                for call in message.tool_calls
            ]
        if message.tool_call_id is not None:
            shown["tool_call_id"] = message.tool_call_id
        role = "system" if message.role == "developer" else message.role
        return {"role": role, **self._hidden(shown)}

    def _hidden(self, value: Any) -> Any:
        match value:
            case str():
                return value.translate(self._hide)
            case Mapping():
                return {self._hidden(key): self._hidden(item) for key, item in value.items()}
            case list() | tuple():
                return [self._hidden(item) for item in value]
        return value


def _in_order(messages: Sequence[Message]) -> list[Message]:
    """The messages, with the results of several calls in the order of the calls."""
    ordered: list[Message] = []
    results: list[Message] = []
    places: dict[str | None, int] = {}
    for message in messages:
        if message.role == "tool":
            results.append(message)
            continue
        ordered += sorted(results, key=lambda result: places[result.tool_call_id])
        results = []
        places = {call.id: place for place, call in enumerate(message.tool_calls)}
        ordered.append(message)
    return ordered + sorted(results, key=lambda result: places[result.tool_call_id])


def _tool(tool: Tool) -> dict[str, Any]:
    description = {} if tool.description is None else {"description": tool.description}
    function = {"name": tool.name, **description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _compile(source: str) -> Template:
    """Compile as transformers does, so that a template means here what it means there."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise_exception
    return environment.from_string(source)


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON without the escapes for HTML that Jinja's own filter writes."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _raise_exception(message: str) -> NoReturn:
    raise TemplateError(message)


def _without_control(spec: dict[str, Any]) -> dict[str, Any]:
    """The tokenizer's description without added tokens: every text is plain to it."""
    return spec | {"added_tokens": [], "post_processor": None, "padding": None, "truncation": None}
