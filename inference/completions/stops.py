"""
Stop strings, looked for in text that comes in pieces.

Of several matches the one that is complete first counts, and of those the longest: so where the
pieces end changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence


class StopScanner:
    """Lets text through up to a stop string; what may yet become one is held back."""

    def __init__(self, stops: Sequence[str]) -> None:
        self.matched: str | None = None
        self._stops = tuple(stops)
        self._held = ""

    def push(self, text: str) -> str:
        """The text that is safe to show now; nothing more once a stop string matched."""
        if self.matched is not None:
            return ""
        self._held += text
        if (found := self._first_match()) is not None:
            start, self.matched = found
            shown, self._held = self._held[:start], ""
            return shown
        safe = len(self._held) - self._beginning_at_end()
        shown, self._held = self._held[:safe], self._held[safe:]
        return shown

    def end(self) -> str:
        """What was held back, now that nothing follows."""
        held, self._held = self._held, ""
        return held

    def _first_match(self) -> tuple[int, str] | None:
        found = [(self._held.find(stop), stop) for stop in self._stops]
        matches = [(start + len(stop), start, stop) for start, stop in found if start >= 0]
        if not matches:
            return None
        _, start, stop = min(matches)
        return start, stop

    def _beginning_at_end(self) -> int:
        """How long an end of the held text is the beginning of a stop string."""
        longest = 0
        for stop in self._stops:
            for length in range(min(len(stop) - 1, len(self._held)), longest, -1):
                if self._held.endswith(stop[:length]):
                    longest = length
                    break
        return longest
