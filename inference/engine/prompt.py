"""The reading of one prompt, part by part; every choice of a request continues from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inference.engine.statistics import RowStatistics
from inference.engine.types import GenerationRequest, Logits, PromptScores, Score

# A long prompt is read in parts, so that a caller who leaves frees the model between them.
PART_TOKENS = 512
# Where each position's logits are wanted, a part of 64 by 150,000 of them takes 38 MB.
PART_TOKENS_WITH_ROWS = 64


class Prompt:
    """What is still to be read of a prompt, and what the reading gave.

    The tokens that a completion is forced to begin with are read along with the prompt, in one
    pass; `rows` are then the logits before each of them and those after the last.
    """

    def __init__(
        self,
        request: GenerationRequest,
        context: Any,
        *,
        already_read: int = 0,
        rows: Sequence[Logits] = (),
    ) -> None:
        """The context may hold the first tokens already; rows are what they gave of `rows`."""
        self.context = context
        self.rows = list(rows)  # (V,) each: what the first steps are made from
        self._ids = (*request.prompt_ids, *request.forced_ids)
        self._prompt_tokens = len(request.prompt_ids)
        self._score_prompt = request.score_prompt
        self._num_candidates = request.num_candidates
        self.reused_tokens = already_read
        self._read = already_read
        self._scores: list[Score | None] = [None]

    @property
    def is_read(self) -> bool:
        return self._read == len(self._ids)

    def next_part(self) -> tuple[Sequence[int], bool]:
        """The tokens to read next, and whether each position's logits are wanted."""
        # The position whose logits come first among those that are wanted.
        first = 0 if self._score_prompt else self._prompt_tokens - 1
        if first == len(self._ids) - 1:
            return self._ids[self._read : self._read + PART_TOKENS], False
        if self._read < first:
            return self._ids[self._read : min(first, self._read + PART_TOKENS)], False
        return self._ids[self._read : self._read + PART_TOKENS_WITH_ROWS], True

    def take(self, part: Sequence[int], rows: Logits, *, listable: int) -> None:
        """Note that a part was read; rows are its logits, (T, V), or those of its end, (1, V).

        Raises InferenceFailed where the logits of a scored token are not finite.
        """
        self._read += len(part)
        first_position = self._read - rows.shape[0]
        for position, row in enumerate(rows, first_position):
            if position >= self._prompt_tokens - 1:
                self.rows.append(row)
            elif self._score_prompt:
                statistics = RowStatistics(row, listable=listable)
                following = self._ids[position + 1]
                self._scores.append(
                    statistics.score(following, num_candidates=self._num_candidates)
                )

    def scores(self) -> PromptScores | None:
        """The prompt's scores once it is read, where they were asked for."""
        return PromptScores(tuple(self._scores)) if self._score_prompt else None
