"""Thoughts between `<think>` and `</think>`, told apart from the answer."""

from __future__ import annotations

from typing import Final

OPEN: Final = "<think>"
CLOSE: Final = "</think>"


def split(content: str) -> tuple[str | None, str]:
    """The reasoning, where there is one, and the answer of a whole assistant turn."""
    thoughts, close, answer = content.partition(CLOSE)
    if not close:
        return None, content
    return thoughts.rpartition(OPEN)[2].strip("\n"), answer.lstrip("\n")
