"""
What was read for one owner before, so that their next request reads only what is new.

A branch, or the same prompt at another temperature, begins as an earlier request did: the KV cache
of the shared tokens is copied, and the logits that they gave are kept too, so nothing shared is
read again. An owner never continues from what another's request read: a timing would tell them
that somebody else had typed the same. Called by the worker's thread alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from inference.engine.decoder import Decoder
from inference.engine.generation import Generation
from inference.engine.types import GenerationRequest, Logits

MIB = 1024 * 1024
# A trace of 288 tokens takes 20 MB with the embedded model (13 of KV cache, 6 of logits) and 27 MB
# with qwen2.5-0.5b: an owner has at least the last three, and the process a dozen.
OWNER_BYTES = 96 * MIB
TOTAL_BYTES = 256 * MIB


@dataclass(frozen=True, slots=True)
class Prefix:
    """The shared beginning of a request and an earlier one."""

    context: Any  # to be forked, never read into
    length: int  # how many of the request's tokens it shares
    rows: Sequence[Logits]  # (V,) each: the logits from the prompt's last token to there


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    owner: str
    token_ids: tuple[int, ...]  # that the context holds, at least
    context: Any
    first_row: int  # the position whose logits are rows[0]
    rows: tuple[Logits, ...]
    size_bytes: int

    def shared_with(self, request: GenerationRequest) -> Prefix:
        token_ids = (*request.prompt_ids, *request.forced_ids)
        pairs = zip(self.token_ids, token_ids, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        # From here on a request needs the logits of each position.
        first = len(request.prompt_ids) - 1
        known = range(self.first_row, min(self.first_row + len(self.rows), shared))
        length = known.stop if first in known else min(shared, first)
        rows = self.rows[first - self.first_row : length - self.first_row] if length > first else ()
        return Prefix(self.context, length, rows)

    def extends(self, other: _Kept) -> bool:
        """Whether the other holds nothing that is not here too."""
        return (
            self.owner == other.owner
            and self.token_ids[: len(other.token_ids)] == other.token_ids
            and self.first_row <= other.first_row
            and len(self.rows) + self.first_row >= len(other.rows) + other.first_row
        )


class PrefixCache:
    """The contexts of ended requests; past a bound the one that was used longest ago goes."""

    def __init__(
        self, decoder: Decoder, *, owner_bytes: int = OWNER_BYTES, total_bytes: int = TOTAL_BYTES
    ) -> None:
        self._decoder = decoder
        self._owner_bytes = owner_bytes
        self._total_bytes = total_bytes
        self._kept: list[_Kept] = []  # the one used last stands last

    def find(self, request: GenerationRequest) -> Prefix | None:
        """The longest beginning of the request that its owner's earlier ones have read."""
        # The scores of a prompt are made from the logits of all its tokens, which nobody keeps.
        if request.owner is None or request.score_prompt:
            return None
        found = [
            (kept.shared_with(request), kept) for kept in self._kept if kept.owner == request.owner
        ]
        prefix, kept = max(found, key=lambda pair: pair[0].length, default=(None, None))
        if prefix is None or kept is None or prefix.length == 0:
            return None
        self._kept.remove(kept)
        self._kept.append(kept)
        return prefix

    def keep(self, generation: Generation) -> None:
        """Take over the context of a generation that will not be continued itself."""
        request = generation.request
        if request.owner is None or not generation.has_begun:
            return
        choice = generation.choices[0]
        rows = tuple(map(_alone, choice.rows))
        # The token drawn last was never read; given ones all were, along with the prompt.
        unread = 1 if len(choice.token_ids) > len(request.forced_ids) else 0
        drawn_ids = choice.token_ids[: len(choice.token_ids) - unread]
        kept = _Kept(
            owner=request.owner,
            token_ids=(*request.prompt_ids, *drawn_ids),
            context=choice.context,
            first_row=len(request.prompt_ids) - 1,
            rows=rows,
            size_bytes=self._decoder.size_bytes(choice.context) + sum(row.nbytes for row in rows),
        )
        self._kept = [other for other in self._kept if not kept.extends(other)]
        self._kept.append(kept)
        self._shrink(
            [other for other in self._kept if other.owner == kept.owner], self._owner_bytes
        )
        self._shrink(self._kept, self._total_bytes)

    def forget(self, owner: str) -> None:
        self._kept = [kept for kept in self._kept if kept.owner != owner]

    def _shrink(self, kept: Sequence[_Kept], most_bytes: int) -> None:
        """Drop the oldest of these until the rest takes no more than that."""
        size_bytes = sum(each.size_bytes for each in kept)
        for each in list(kept):
            if size_bytes <= most_bytes:
                return
            self._kept.remove(each)
            size_bytes -= each.size_bytes


def _alone(row: Logits) -> Logits:
    """The row without the rest of the pass that it is a view of."""
    return row if row.base is None or row.base.nbytes == row.nbytes else row.copy()
