"""What a completion is made of. `running` gives these; the answers and the chunks show them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from inference.chat.deltas import Delta
from inference.engine.types import Score

Ending = Literal["stop", "length", "tool_calls"]


@dataclass(frozen=True, slots=True)
class WrittenToken:
    """A token of the text, with what the model said of it."""

    token_id: int
    offset: int  # characters of the text that the tokens before it complete
    score: Score | None  # None for a prompt's first token, which nothing precedes


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """The next part of one choice's text."""

    choice: int
    text: str  # "" where it comes as deltas
    tokens: tuple[WrittenToken, ...]
    deltas: tuple[Delta, ...] = ()  # the text taken apart, in chat
    finish_reason: Ending | None = None

    def __bool__(self) -> bool:
        """Whether there is anything in it."""
        return bool(self.text or self.tokens or self.deltas or self.finish_reason)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a whole request: each prompt counted once, every choice's completion."""

    prompt_tokens: int
    completion_tokens: int  # all that were drawn, also those that a stop string cut off


async def gather(events: AsyncGenerator[Piece | Usage]) -> tuple[list[Piece], Usage]:
    """Each choice as one piece, in order, and the usage: what a stream gives, all at once."""
    by_choice: dict[int, list[Piece]] = {}
    usage = Usage(0, 0)
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Usage):
                usage = event
            else:
                by_choice.setdefault(event.choice, []).append(event)
    return [_joined(by_choice[choice]) for choice in sorted(by_choice)], usage


def _joined(pieces: Sequence[Piece]) -> Piece:
    return Piece(
        choice=pieces[0].choice,
        text="".join(piece.text for piece in pieces),
        tokens=tuple(token for piece in pieces for token in piece.tokens),
        deltas=tuple(delta for piece in pieces for delta in piece.deltas),
        finish_reason=pieces[-1].finish_reason,
    )
