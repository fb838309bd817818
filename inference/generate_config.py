"""What a request of the OpenAI endpoints gets for the fields that it leaves out."""

from __future__ import annotations

from dataclasses import dataclass, field

from inference.engine.types import SamplingParams

# OpenAI's own default for completions; for chat, enough for a paragraph or two.
COMPLETION_MAX_TOKENS = 16
CHAT_MAX_TOKENS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateConfig:
    """The server's defaults. A field that a request sends wins over the same field here."""

    max_tokens: int | None = None  # None: each endpoint's own
    sampling: SamplingParams = field(default_factory=SamplingParams)
    stop: tuple[str, ...] = ()
    stream: bool = False
    ignore_eos: bool = False  # of chat; completions never heed the end of a sequence
    min_tokens: int = 0  # of chat
