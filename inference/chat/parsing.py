"""An assistant's text taken apart as it comes: what it thinks, says and calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from inference.chat.deltas import CallArguments, CallBegun, ContentText, Delta, ReasoningText
from inference.chat.hermes import HermesParser, new_call_id
from inference.chat.think import Place, ThinkParser

# What becomes of tool calls; "ignored": nobody asked for any, so they are text like any other.
Calls = Literal["all", "first", "hidden", "ignored"]


class AssistantParser:
    """One choice's text, in pieces of any size; the deltas do not depend on where it is cut."""

    def __init__(
        self,
        *,
        reasons: bool = False,
        thinking: bool = False,
        thought_is_open: bool = False,
        calls: Calls = "ignored",
        new_id: Callable[[], str] = new_call_id,
    ) -> None:
        """`reasons`: the model writes `<think>`; `thinking`: it is expected to this time.

        `thought_is_open`: the prompt ends in `<think>`, so the text begins inside.
        """
        parses_calls = calls != "ignored"
        self._think: ThinkParser | None = None
        if reasons:
            self._think = ThinkParser(
                is_open=thought_is_open, calls_close=parses_calls and calls != "hidden"
            )
        self._thinking = thinking
        self._hermes: HermesParser | None = None
        if parses_calls:
            self._hermes = HermesParser(hides_calls=calls == "hidden", new_id=new_id)
        self._only_first = calls == "first"

    @property
    def stops_sleep(self) -> bool:
        """Whether stop strings mean nothing to the next character, for it is of a thought."""
        if self._think is None:
            return False
        place = self._think.place
        return place is Place.THOUGHT or (place is Place.BEFORE and self._thinking)

    @property
    def has_called(self) -> bool:
        """Whether a call is complete: after a normal end, the reason is then tool_calls."""
        return self._hermes is not None and self._hermes.completed > 0

    def push(self, text: str) -> list[Delta]:
        """What the text adds. Raises InvalidModelOutput for a tool call that is not JSON."""
        reasoning, answer = self._think.push(text) if self._think else ("", text)
        return self._deltas(reasoning, self._answer(answer))

    def end(self, finish_reason: Literal["stop", "length"]) -> list[Delta]:
        """What was held back, now that nothing follows.

        Raises InvalidModelOutput where the text comes to a normal end inside a tool call; one
        that is cut short by its length is only incomplete.
        """
        reasoning, answer = self._think.end() if self._think else ("", "")
        deltas = self._answer(answer)
        if self._hermes is not None:
            deltas += self._hermes.end(is_cut=finish_reason == "length")
        return self._deltas(reasoning, deltas)

    def _answer(self, text: str) -> list[Delta]:
        if self._hermes is not None:
            return self._hermes.push(text)
        return [ContentText(text)] if text else []

    def _deltas(self, reasoning: str, answer: list[Delta]) -> list[Delta]:
        thought: list[Delta] = [ReasoningText(reasoning)] if reasoning else []
        return thought + [delta for delta in answer if self._shows(delta)]

    def _shows(self, delta: Delta) -> bool:
        return not (
            self._only_first and isinstance(delta, CallBegun | CallArguments) and delta.index > 0
        )
