"""JSON read by the character, as it comes: where a value ends, before the rest is there."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Final

WHITE: Final = " \t\n\r"
SCALAR_ENDS: Final = frozenset(WHITE + ',:{}[]"')


def solid() -> Generator[None, str, str]:
    """The next character that is no white space."""
    character = yield
    while character in WHITE:
        character = yield
    return character


def raw_value(
    first: str, stream: Callable[[str], None] | None = None
) -> Generator[None, str, tuple[str, str]]:
    """The raw text of a JSON value, and the character after it where one had to be read.

    Finds where the value ends and no more: whether it is JSON is for whoever reads the text.
    `stream` is given it as it comes, but a number or a word only once it is whole.
    """
    raw, shown = [first], 0
    depth = int(first in "{[")
    in_string, escaped = first == '"', False
    is_scalar = not depth and not in_string
    while depth or in_string or is_scalar:
        if stream and (in_string or raw[-1] in SCALAR_ENDS) and shown < len(raw):
            stream("".join(raw[shown:]))
            shown = len(raw)
        character = yield
        if in_string:
            in_string = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif is_scalar and character in SCALAR_ENDS:
            return "".join(raw), character
        elif character == '"':
            in_string = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
        raw.append(character)
    if stream:
        stream("".join(raw[shown:]))
    return "".join(raw), ""
