"""Finding the tokens of a vocabulary by how they begin. Ids and bytes only."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from heapq import nsmallest


class TokenIndex:
    """All tokens in the order of their bytes, so that those with one beginning stand together."""

    def __init__(self, tokens: Sequence[bytes]) -> None:
        self._ids = sorted(range(len(tokens)), key=tokens.__getitem__)
        self._sorted = [tokens[i] for i in self._ids]
        # What is shorter comes first, and of two as long the one of lower id.
        by_length = sorted(range(len(tokens)), key=lambda i: (len(tokens[i]), i))
        place = dict(zip(by_length, range(len(tokens)), strict=True))
        self._places = [place[i] for i in self._ids]
        self._by_length = by_length

    def beginning_with(self, beginning: bytes, *, at_most: int) -> list[int]:
        """The ids of tokens that begin so: the exact match first, for it is the shortest."""
        start = bisect_left(self._sorted, beginning)
        end = bisect_left(self._sorted, _past(beginning), lo=start) if beginning else None
        return [self._by_length[place] for place in nsmallest(at_most, self._places[start:end])]


def _past(beginning: bytes) -> bytes:
    """Where what begins so ends in the order; the last byte is not 0xFF in UTF-8."""
    return beginning[:-1] + bytes([beginning[-1] + 1])
