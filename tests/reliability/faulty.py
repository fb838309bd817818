"""
The product with a model that fails where it is told: `python -m tests.reliability.faulty SERVE...`.

A prompt that holds a word of `FAULTS` meets that fault; every other is served as always. The
arguments are those of `manage.py serve`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

import torch
from django.core.management import execute_from_command_line

from inference.engine.engine import ModelEngine

NAN, TOKENIZER, CLOCK = "notanumber", "untokenizable", "tomorrow"
FAULTS = (NAN, TOKENIZER, CLOCK)
DAY = 86_400.0

_real_time = time.time
_ahead = 0.0


class FaultyDecoder:
    """Another decoder, but what it makes of a prompt that begins with NAN is NaN."""

    def __init__(self, inner: Any, marked: Sequence[int]) -> None:
        self._inner = inner
        self._marked = list(marked)
        self._poisoned: set[int] = set()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def prefill(self, context: Any, token_ids: Sequence[int], **options: Any) -> torch.Tensor:
        rows = self._inner.prefill(context, token_ids, **options)
        poisoned = list(token_ids[: len(self._marked)]) == self._marked
        return torch.full_like(rows, float("nan")) if poisoned else rows


def make_faulty() -> None:
    """Lay the faults over every engine and over the clock of this process."""
    encode, made = ModelEngine.encode, ModelEngine.__init__

    def faulty_encode(engine: ModelEngine, text: str) -> list[int]:
        global _ahead
        if TOKENIZER in text:
            raise RuntimeError("the tokenizer fails, as it was told")
        if CLOCK in text:
            _ahead = DAY if _ahead == 0 else -DAY
        return encode(engine, text)

    def faulty_engine(engine: ModelEngine, decoder: Any, **parts: Any) -> None:
        marked = parts["tokenizer"].encode(NAN)
        made(engine, FaultyDecoder(decoder, marked), **parts)

    faults: Any = ModelEngine  # a name under which its methods may be replaced
    faults.encode, faults.__init__ = faulty_encode, faulty_engine
    time.time = lambda: _real_time() + _ahead


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "traceapp.settings")
    make_faulty()
    execute_from_command_line(["manage.py", "serve", *sys.argv[1:]])
