"""What a path is of: the API, and of that what clients of OpenAI's read."""

from __future__ import annotations

OPENAI_PATHS = frozenset(
    {"/v1/completions", "/v1/chat/completions", "/tokenize", "/detokenize", "/tokenizer_info"}
)
OPENAI_PREFIX = "/v1/models/"


def speaks_openai(path: str) -> bool:
    return path in OPENAI_PATHS or path.startswith(OPENAI_PREFIX)


def is_api(path: str) -> bool:
    return path.startswith("/v1/") or path in {"/v1", "/health", "/oembed"} or speaks_openai(path)
