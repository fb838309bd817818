"""
The product with a model that fails where it is told: `python -m tests.reliability.faulty SERVE...`.

A prompt that begins with NAN is answered with NaN, one with SNAIL at 20 tokens a second; where
TOKENIZER stands in it the tokenizer fails, and where CLOCK does the clock jumps a day, ahead or
back. Every other is served as always. The arguments are those of `manage.py serve`.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from django.core.management import execute_from_command_line

from inference.engine.engine import ModelEngine
from inference.engine.types import Logits

NAN, SNAIL, TOKENIZER, CLOCK = "notanumber", "snailspace", "untokenizable", "tomorrow"
DAY = 86_400.0
SNAIL_SECONDS = 0.05

_real_time = time.time
_ahead = 0.0


class FaultyDecoder:
    """Another decoder, but for what it makes of prompts that begin with NAN or SNAIL."""

    def __init__(self, inner: Any, encode: Callable[[str], list[int]]) -> None:
        self._inner = inner
        self._nan, self._snail = encode(NAN), encode(SNAIL)
        self._slow: list[Any] = []  # the contexts of snails

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def prefill(self, context: Any, token_ids: Sequence[int], **options: Any) -> Logits:
        rows: Logits = self._inner.prefill(context, token_ids, **options)
        if list(token_ids[: len(self._snail)]) == self._snail:
            self._slow.append(context)
        is_poisoned = list(token_ids[: len(self._nan)]) == self._nan
        return np.full_like(rows, float("nan")) if is_poisoned else rows

    def decode(self, contexts: Sequence[Any], token_ids: Sequence[int]) -> Logits:
        if any(context is slow for context in contexts for slow in self._slow):
            time.sleep(SNAIL_SECONDS)
        rows: Logits = self._inner.decode(contexts, token_ids)
        return rows


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
        made(engine, FaultyDecoder(decoder, parts["tokenizer"].encode), **parts)

    faults: Any = ModelEngine  # a name under which its methods may be replaced
    faults.encode, faults.__init__ = faulty_encode, faulty_engine
    time.time = lambda: _real_time() + _ahead


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "traceapp.settings")
    make_faulty()
    execute_from_command_line(["manage.py", "serve", *sys.argv[1:]])
