"""What a request of the OpenAI endpoints gets for the fields that it leaves out."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from inference.engine.types import SamplingParams
from inference.errors import InvalidRequest

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


class BadGenerateConfig(ValueError):
    """The text is not a JSON object of known keys with values in their bounds."""


# Keys of the JSON object, and what each must be.
_INTEGERS = {"max_new_tokens": 1, "top_k": 0, "seed": 0, "min_tokens": 0}  # at least
_NUMBERS = (
    *("temperature", "top_p", "min_p", "repetition_penalty"),
    *("presence_penalty", "frequency_penalty"),
)
_BOOLEANS = ("stream", "ignore_eos")
_NULLABLE = ("top_k", "seed", "stop")  # null is off, fresh and none
_SAMPLING = {name for name in SamplingParams.__slots__ if name != "logit_bias"}


def parse(text: str) -> GenerateConfig:
    """Read `--generate-config`, a JSON object. Raises BadGenerateConfig naming the key."""
    try:
        given = json.loads(text)
    except ValueError as error:
        raise BadGenerateConfig(f"not JSON: {error}") from None
    if not isinstance(given, dict):
        raise BadGenerateConfig("must be a JSON object")
    values = {key: _checked(key, value) for key, value in given.items()}
    sampling = {key: value for key, value in values.items() if key in _SAMPLING}
    if sampling.get("top_k", 0) is None:
        sampling["top_k"] = 0
    rest = {key: value for key, value in values.items() if key not in _SAMPLING}
    if "max_new_tokens" in rest:
        rest["max_tokens"] = rest.pop("max_new_tokens")
    if rest.get("stop", ()) is None:
        rest["stop"] = ()
    try:
        return GenerateConfig(sampling=SamplingParams(**sampling), **rest)
    except InvalidRequest as error:
        raise BadGenerateConfig(error.message) from None


def _checked(key: str, value: Any) -> Any:
    if value is None and key in _NULLABLE:
        return None
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if key in _INTEGERS:
        if is_integer and value >= _INTEGERS[key]:
            return value
        raise BadGenerateConfig(f"{key} must be an integer, at least {_INTEGERS[key]}")
    if key in _NUMBERS:
        if is_integer or isinstance(value, float):
            return float(value)
        raise BadGenerateConfig(f"{key} must be a number")
    if key in _BOOLEANS:
        if isinstance(value, bool):
            return value
        raise BadGenerateConfig(f"{key} must be true or false")
    if key == "stop":
        if isinstance(value, list) and all(isinstance(s, str) and s for s in value):
            return tuple(value)
        raise BadGenerateConfig("stop must be a list of strings, none of them empty")
    raise BadGenerateConfig(f"{key[:60]} is not a setting")
