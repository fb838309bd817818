"""
One choice's text in the making: from steps to pieces that may be shown.

Nothing is shown that could have to be taken back: half of a character, or what may become a stop
string. A token is given out together with the first character of its text, so that the tokens of
all pieces in a row are exactly those of the text that was shown.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Literal

from inference.completions.reading import Reader
from inference.completions.values import Ending, Piece, WrittenToken
from inference.engine.types import FinishReason, Score, Step
from inference.engine.vocabulary import Detokenizer, Vocabulary


class ChoiceWriter:
    """Makes the pieces of one choice."""

    def __init__(self, choice: int, vocabulary: Vocabulary, reader: Reader) -> None:
        self.has_ended = False
        self.drawn = 0  # tokens that the model drew for it, shown or not
        self._choice = choice
        self._vocabulary = vocabulary
        self._reader = reader
        self._detokenizer = Detokenizer(vocabulary)
        self._decoded = 0  # characters that the tokens so far complete
        self._shown = 0  # of those, how many were given out
        self._waiting: deque[WrittenToken] = deque()

    def echo(self, token_ids: Iterable[int], scores: Iterable[Score | None]) -> Piece:
        """The prompt as the beginning of the text; its control tokens are spelt out."""
        shown = ""
        for token_id, score in zip(token_ids, scores, strict=True):
            shown += self._decode(token_id, score, spelt_out=True)
        return self._piece(shown)

    def push(self, step: Step) -> Piece:
        """Take the next step; the piece may be empty.

        Raises InvalidModelOutput where the text ends in the middle of a tool call.
        """
        self.drawn += 1
        if step.finish_reason is FinishReason.EOS:  # which is no part of the text
            return self.end("stop")
        shown = self._reader.push(self._decode(step.token_id, step.score))
        if step.finish_reason is None and not self._reader.stopped:
            return self._piece(shown)
        return self.end("length", shown)

    def end(self, reason: Literal["stop", "length"], shown: str = "") -> Piece:
        """The last piece: `shown`, and what was held back."""
        self.has_ended = True
        if not self._reader.stopped:
            unfinished = self._detokenizer.end()
            self._decoded += len(unfinished)
            shown += self._reader.push(unfinished)
        held, ending = self._reader.end(reason)
        return self._piece(shown + held, ending)

    def _decode(self, token_id: int, score: Score | None, *, spelt_out: bool = False) -> str:
        """The text that a token completes; the token waits until its text is shown."""
        self._waiting.append(WrittenToken(token_id, self._decoded, score))
        if spelt_out and self._vocabulary.is_special(token_id):
            text = self._detokenizer.end() + self._vocabulary.text(token_id)
        else:
            text = self._detokenizer.push(token_id)
        self._decoded += len(text)
        return text

    def _piece(self, shown: str, finish_reason: Ending | None = None) -> Piece:
        self._shown += len(shown)
        takes_all = finish_reason is not None and not self._reader.stopped
        tokens: list[WrittenToken] = []
        while self._waiting and (takes_all or self._waiting[0].offset < self._shown):
            tokens.append(self._waiting.popleft())
        return Piece(
            choice=self._choice,
            text="" if self._reader.parses else shown,
            tokens=tuple(tokens),
            deltas=self._reader.take_deltas(),
            finish_reason=finish_reason,
        )
