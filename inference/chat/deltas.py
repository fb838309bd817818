"""What an assistant's text turns out to be, piece by piece."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReasoningText:
    text: str


@dataclass(frozen=True, slots=True)
class ContentText:
    text: str


@dataclass(frozen=True, slots=True)
class CallBegun:
    """A call, of which the name is known now; its arguments follow."""

    index: int
    id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    """A piece of a call's arguments; the pieces in a row are the JSON text of an object."""

    index: int
    fragment: str


Delta = ReasoningText | ContentText | CallBegun | CallArguments
