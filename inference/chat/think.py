"""
Thoughts between `<think>` and `</think>`, told apart from the answer that follows them.

The marks go by their text, and so do line breaks next to them, which belong to the template. Only
what the turn begins with is a thought: a later `<think>` is text like any other.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

OPEN: Final = "<think>"
CLOSE: Final = "</think>"
# A model that forgets to close its thoughts calls a tool from within. The mark alone does not
# say so, for thoughts speak of it; the mark with the beginning of a call does.
CALL: Final = "<tool_call>"
CALL_BEGINS: Final = ("{", "[")


class Place(Enum):
    BEFORE = auto()  # nothing but white space and perhaps a part of `<think>`
    THOUGHT = auto()
    BETWEEN = auto()  # the line breaks after `</think>`
    ANSWER = auto()


class ThinkParser:
    """Parts a turn's text as it comes."""

    def __init__(self, *, is_open: bool = False, calls_close: bool = False) -> None:
        """`is_open`: the prompt ends in `<think>`. `calls_close`: a tool call ends a thought."""
        self.place = Place.THOUGHT if is_open else Place.BEFORE
        self._calls_close = calls_close
        self._held = ""  # may yet be a mark, or line breaks before one
        self._is_fresh = True  # nothing of the thought was given out

    def push(self, text: str) -> tuple[str, str]:
        """The reasoning and the answer that are certain now."""
        reasoning: list[str] = []
        for place, character in enumerate(text):
            if self.place is Place.ANSWER:
                return "".join(reasoning), self._take() + text[place:]
            self._held += character
            reasoning.append(self._step())
        return "".join(reasoning), self._take() if self.place is Place.ANSWER else ""

    def end(self) -> tuple[str, str]:
        """What was held back, now that nothing follows."""
        held = self._take()
        return (held, "") if self.place is Place.THOUGHT else ("", held)

    def _take(self) -> str:
        held, self._held = self._held, ""
        return held

    def _step(self) -> str:
        """Judge what is held after one more character; give the reasoning that is certain."""
        match self.place:
            case Place.BEFORE:
                begun = self._held.lstrip()
                if begun == OPEN:
                    self.place, self._held = Place.THOUGHT, ""
                elif not OPEN.startswith(begun):
                    self.place = Place.ANSWER
            case Place.THOUGHT:
                return self._think()
            case Place.BETWEEN:
                self._held = self._held.lstrip("\n")
                if self._held:
                    self.place = Place.ANSWER
        return ""

    def _think(self) -> str:
        if self._is_fresh:
            self._held = self._held.lstrip("\n")
        mark = self._held.lstrip("\n")
        if mark == CLOSE:
            self.place, self._held = Place.BETWEEN, ""
            return ""
        if self._calls_close and mark.startswith(CALL):
            rest = mark.removeprefix(CALL).lstrip()
            if rest in CALL_BEGINS:
                self.place, self._held = Place.ANSWER, mark
                return ""
            if not rest:
                return ""
        if CLOSE.startswith(mark) or (self._calls_close and CALL.startswith(mark)):
            return ""
        # Only its last character can be the first of another mark, or a line break before one.
        thought, last = self._held[:-1], self._held[-1]
        if last not in (OPEN[0], "\n"):
            thought, last = self._held, ""
        self._held = last
        self._is_fresh = self._is_fresh and not thought
        return thought


def split(content: str) -> tuple[str | None, str]:
    """The reasoning, where there is one, and the answer of a whole assistant turn."""
    thoughts, close, answer = content.partition(CLOSE)
    if not close:
        return None, content
    return thoughts.rpartition(OPEN)[2].strip("\n"), answer.lstrip("\n")
