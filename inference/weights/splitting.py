"""
How text is cut before the merges of a byte-level vocabulary apply.

A GGUF file does not hold the rule, only llama.cpp's name for it. transformers knows some of
the names and gives every other one GPT-2's rule without a word, which tokenises digits
wrongly for SmolLM2. So the names are listed here, and one that is not listed is refused.
"""

from __future__ import annotations

from collections.abc import Callable

from tokenizers import Regex, Tokenizer
from tokenizers.normalizers import NFC
from tokenizers.pre_tokenizers import ByteLevel, Digits, PreTokenizer, Sequence, Split

from inference.weights.errors import WeightsError

# As in the tokenizer.json of Qwen2.5 and Qwen3.
QWEN2_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def _gpt2() -> PreTokenizer:
    return ByteLevel(add_prefix_space=False, trim_offsets=True, use_regex=True)


def _smollm() -> PreTokenizer:
    return Sequence([Digits(individual_digits=True), _gpt2()])


def _qwen2() -> PreTokenizer:
    split = Split(Regex(QWEN2_PATTERN), behavior="isolated", invert=False)
    return Sequence([split, ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)])


_RULES: dict[str, Callable[[], PreTokenizer]] = {
    "gpt-2": _gpt2,
    "smollm": _smollm,
    "qwen2": _qwen2,
}


def check_rule(name: str | None) -> None:
    """Raise WeightsError if the rule that a GGUF file names is not one of ours."""
    if name not in _RULES:
        raise WeightsError(
            f"The file names {name!r} as its pre-tokenizer (tokenizer.ggml.pre); only "
            f"{', '.join(_RULES)} are known here, and another rule would tokenise wrongly."
        )


def apply_rule(tokenizer: Tokenizer, name: str) -> None:
    """Make the tokenizer cut text by the rule of that name."""
    check_rule(name)
    tokenizer.pre_tokenizer = _RULES[name]()
    # Qwen's own tokenizer composes characters first; llama.cpp does not, so no file says it.
    tokenizer.normalizer = NFC() if name == "qwen2" else None
