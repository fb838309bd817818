"""
From raw text to what may be shown: stop strings cut it, a parser takes it apart.

Completions have no parser; chat has the model's own, inside whose reasoning stop strings sleep.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from inference.chat.deltas import Delta, ReasoningText
from inference.completions.stops import StopScanner
from inference.completions.values import Ending


class Parser(Protocol):
    """What takes a chat's answer apart; `inference.chat.parsing` has it."""

    @property
    def stops_sleep(self) -> bool:
        """Whether stop strings mean nothing at this point of the text."""
        ...

    @property
    def has_called(self) -> bool:
        """Whether a tool call is complete."""
        ...

    def push(self, text: str) -> list[Delta]: ...

    def end(self, finish_reason: Literal["stop", "length"]) -> list[Delta]: ...


class Reader:
    """One choice's text on its way out. `push` and `end` give what may be shown of it."""

    def __init__(
        self,
        stops: Sequence[str],
        parser: Parser | None = None,
        *,
        hides_reasoning: bool = False,
    ) -> None:
        self._scanner = StopScanner(stops)
        self._has_stops = bool(stops)
        self._parser = parser
        self._hides_reasoning = hides_reasoning
        self._deltas: list[Delta] = []

    @property
    def parses(self) -> bool:
        """Whether the text comes as deltas."""
        return self._parser is not None

    @property
    def stopped(self) -> bool:
        """Whether a stop string was found."""
        return self._scanner.matched is not None

    def push(self, text: str) -> str:
        if self._parser is None:
            return self._scanner.push(text)
        if not self._has_stops:
            return self._parse(text)
        # By the character: the parser says after each whether stop strings count for the next.
        return "".join(self._parse(self._scan(character)) for character in text)

    def end(self, reason: Literal["stop", "length"]) -> tuple[str, Ending]:
        """What was held back, and why the text ends: a stop string is a "stop" in any case.

        Raises InvalidModelOutput where the text stops inside a tool call.
        """
        shown = self._parse(self._scanner.end())
        if self.stopped:
            reason = "stop"
        if self._parser is None:
            return shown, reason
        self._keep(self._parser.end(reason))
        return shown, "tool_calls" if reason == "stop" and self._parser.has_called else reason

    def take_deltas(self) -> tuple[Delta, ...]:
        """What the parser made of the text since this was last asked."""
        deltas = tuple(self._deltas)
        self._deltas.clear()
        return deltas

    def _scan(self, character: str) -> str:
        if self._parser is not None and self._parser.stops_sleep and not self.stopped:
            return self._scanner.end() + character
        return self._scanner.push(character)

    def _parse(self, text: str) -> str:
        if self._parser is not None and text:
            self._keep(self._parser.push(text))
        return text

    def _keep(self, deltas: list[Delta]) -> None:
        self._deltas += [
            delta
            for delta in deltas
            if not (self._hides_reasoning and isinstance(delta, ReasoningText))
        ]
