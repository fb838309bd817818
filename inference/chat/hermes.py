"""
Tool calls in the form of the Hermes models, which Qwen took over.

    <tool_call>
    {"name": "weather", "arguments": {"city": "Oslo"}}
    </tool_call>

A block holds one such object or a list of them; an empty list is no call. Arguments are an object
or, from small models, a string that holds one. White space next to a block is no content.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Generator
from typing import Final

from inference.chat import jsontext
from inference.chat.characters import WHITE, raw_value, solid
from inference.chat.deltas import CallArguments, CallBegun, ContentText, Delta
from inference.errors import InvalidModelOutput

OPEN: Final = "<tool_call>"
CLOSE: Final = "</tool_call>"

# Takes characters one by one; what it finds goes to the parser's list of deltas.
Reading = Generator[None, str, None]


def new_call_id() -> str:
    return f"call_{secrets.token_hex(12)}"


class HermesParser:
    """Takes text as it comes, and tells calls from content."""

    def __init__(
        self, *, hides_calls: bool = False, new_id: Callable[[], str] = new_call_id
    ) -> None:
        """With `hides_calls`, blocks are passed over unread."""
        self.completed = 0  # calls that came to their end
        self._hides_calls = hides_calls
        self._new_id = new_id
        self._deltas: list[Delta] = []
        self._in_block = False
        self._held = ""  # white space, or what may become the mark of a block
        self._reading = self._read()
        next(self._reading)

    def push(self, text: str) -> list[Delta]:
        """What the text adds. Raises InvalidModelOutput where a block is not as it must be."""
        for character in text:
            self._reading.send(character)
        return self._take()

    def end(self, *, is_cut: bool) -> list[Delta]:
        """What was held back. Raises InvalidModelOutput inside a block, unless the text is cut."""
        if not self._in_block:
            self._say(self._held)
        elif not is_cut and not self._hides_calls:
            raise InvalidModelOutput("the model's text ends inside a tool call")
        return self._take()

    def _take(self) -> list[Delta]:
        """The deltas so far; neighbours that continue each other as one."""
        joined: list[Delta] = []
        for delta in self._deltas:
            match joined, delta:
                case [*_, ContentText(before)], ContentText(text):
                    joined[-1] = ContentText(before + text)
                case [*_, CallArguments(index, before)], CallArguments(same, text) if index == same:
                    joined[-1] = CallArguments(index, before + text)
                case _:
                    joined.append(delta)
        self._deltas.clear()
        return joined

    def _say(self, text: str) -> None:
        if text:
            self._deltas.append(ContentText(text))

    def _read(self) -> Reading:
        yield from self._content()
        while True:
            self._in_block = True
            yield from self._pass_over() if self._hides_calls else self._block()
            self._in_block = False
            # White space after a block is no content: it is forgotten, not held.
            first = yield from solid()
            yield from self._content(first)

    def _content(self, first: str = "") -> Reading:
        """Text up to and with the mark that begins a block."""
        space, mark = "", ""
        while True:
            character = first or (yield)
            first = ""
            if not mark and character.isspace():
                space += character
            elif OPEN.startswith(mark + character):
                mark += character
            else:
                self._say(space + mark)
                space, mark = "", ""
                if character == OPEN[0]:
                    mark = character
                elif character.isspace():
                    space = character
                else:
                    self._say(character)
            self._held = space + mark
            if mark == OPEN:
                self._held = ""
                return

    def _pass_over(self) -> Reading:
        end = ""
        while end != CLOSE:
            end = (end + (yield))[-len(CLOSE) :]

    def _block(self) -> Reading:
        character = yield from solid()
        if character == "{":
            yield from self._call()
        elif character == "[":
            character = yield from solid()
            while character != "]":
                _expect("{", character)
                yield from self._call()
                character = yield from solid()
                if character == ",":
                    character = yield from solid()
                    _expect("{", character)
                else:
                    _expect("]", character)
        else:
            raise InvalidModelOutput("a tool call of the model is not a JSON object")
        character = yield from solid()
        for place, expected in enumerate(CLOSE):
            _expect(expected, character if place == 0 else (yield))

    def _call(self) -> Reading:
        """One call, of which the first brace is read."""
        call = _Call(self.completed, self._new_id, self._deltas.append)
        character = yield from solid()
        while character != "}":
            _expect('"', character)
            key, _ = yield from raw_value(character)
            _expect(":", (yield from solid()))
            first = yield from solid()
            if _parsed(key) == "arguments":
                call.begin_arguments()
                streams = first == "{"
                raw, after = yield from raw_value(first, call.stream if streams else None)
                call.end_arguments(raw)
            else:
                raw, after = yield from raw_value(first)
                value = _parsed(raw)
                if _parsed(key) == "name":
                    call.set_name(value)
            character = after if after and after not in WHITE else (yield from solid())
            if character == ",":
                character = yield from solid()
                _expect('"', character)
            else:
                _expect("}", character)
        call.end()
        self.completed += 1


class _Call:
    """One call in the making: its name comes first out, in whatever order the model wrote it."""

    def __init__(
        self, index: int, new_id: Callable[[], str], give: Callable[[Delta], None]
    ) -> None:
        self._index = index
        self._new_id = new_id
        self._give = give
        self._name: str | None = None
        self._has_arguments = False
        self._waiting = ""  # arguments that came before the name

    def set_name(self, name: object) -> None:
        if not isinstance(name, str) or not name or self._name is not None:
            raise InvalidModelOutput("a tool call of the model has no name, or two")
        self._name = name
        self._give(CallBegun(self._index, self._new_id(), name))
        if self._waiting:
            self.stream(self._waiting)

    def begin_arguments(self) -> None:
        if self._has_arguments:
            raise InvalidModelOutput("a tool call of the model has its arguments twice")
        self._has_arguments = True

    def stream(self, fragment: str) -> None:
        if self._name is None:
            self._waiting += fragment
        else:
            self._give(CallArguments(self._index, fragment))

    def end_arguments(self, raw: str) -> None:
        """Check them; give those that are written as a string, or as null for none."""
        value = _parsed(raw)
        if isinstance(value, str):
            try:
                jsontext.read_object(value)
            except ValueError as error:
                raise InvalidModelOutput("a tool call's arguments are no JSON object") from error
            self.stream(value)
        elif value is None:
            self.stream("{}")
        elif not isinstance(value, dict):
            raise InvalidModelOutput("a tool call's arguments are no JSON object")

    def end(self) -> None:
        if self._name is None:
            raise InvalidModelOutput("a tool call of the model has no name")
        if not self._has_arguments:
            self.stream("{}")


def _parsed(raw: str) -> object:
    try:
        return jsontext.read(raw)
    except ValueError as error:
        raise InvalidModelOutput("a tool call of the model is not JSON") from error


def _expect(expected: str, character: str) -> None:
    if character != expected:
        raise InvalidModelOutput("a tool call of the model is not as it must be")
