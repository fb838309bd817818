"""
What each token id stands for: bytes, text, and whether it is a control token.

Byte-level BPE only (GPT-2's scheme, which the Llama, Qwen and SmolLM families here use): there
a completion's bytes are exactly its tokens' bytes in a row, so text can be built by one UTF-8
decoder and no token is ever guessed at. Any other kind of tokenizer is refused on loading.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer


class UnsupportedTokenizer(ValueError):
    """The tokenizer is not byte-level BPE."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenizerSource:
    """A tokenizer as text, for whoever builds another of it than the engine's own."""

    json: str  # as the tokenizers library writes one
    chat_template: str | None  # Jinja
    special_tokens: Mapping[str, str]  # by the names of templates: bos_token, eos_token, ...


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The tokens of one model, by id."""

    tokens: Sequence[bytes]  # the bytes of each token; len(tokens) ids can be shown and drawn
    special_ids: frozenset[int]  # control tokens: part of no text
    eos_ids: frozenset[int]  # those that end a completion
    rows: int  # of the model's head; at least len(tokens)

    source: TokenizerSource | None = None  # what the tokens were read from

    def text(self, token_id: int) -> str:
        """The token decoded alone; U+FFFD where it is only part of a character."""
        return self.tokens[token_id].decode("utf-8", "replace")

    def is_special(self, token_id: int) -> bool:
        return token_id in self.special_ids

    def decode(self, token_ids: Iterable[int]) -> str:
        """The text of a sequence, without special tokens."""
        detokenizer = Detokenizer(self)
        return "".join([*map(detokenizer.push, token_ids), detokenizer.end()])


def read_vocabulary(source: TokenizerSource, eos_ids: frozenset[int], *, rows: int) -> Vocabulary:
    """Read every token's bytes out of a byte-level BPE tokenizer.

    rows: of the model's head. Raises UnsupportedTokenizer for any other kind.
    """
    tokenizer = Tokenizer.from_str(source.json)
    alphabet = byte_level_alphabet()
    added = tokenizer.get_added_tokens_decoder()
    tokens: list[bytes] = []
    for token_id in range(tokenizer.get_vocab_size()):
        piece = tokenizer.id_to_token(token_id)
        if token_id in added:
            tokens.append(added[token_id].content.encode())
        elif piece is not None and all(character in alphabet for character in piece):
            tokens.append(bytes(alphabet[character] for character in piece))
        else:
            raise UnsupportedTokenizer(f"token {token_id} is not byte-level BPE")
    return Vocabulary(
        tokens=tokens[:rows],
        special_ids=frozenset(i for i, token in added.items() if token.special),
        eos_ids=eos_ids,
        rows=rows,
        source=source,
    )


class Detokenizer:
    """Text out of tokens as they come: a character is given out once it is whole."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token_id: int) -> str:
        """The text that this token completes; "" while a character is unfinished."""
        if self._vocabulary.is_special(token_id):
            return ""
        return self._decoder.decode(self._vocabulary.tokens[token_id])

    def end(self) -> str:
        """What is left when no token follows: U+FFFD for a character cut short."""
        return self._decoder.decode(b"", final=True)


def byte_level_alphabet() -> dict[str, int]:
    """GPT-2's printable stand-in for each of the 256 bytes: character to byte.

    Printable Latin-1 stands for itself; the other bytes, in order, take the characters from
    U+0100 on. (Radford et al. 2019, the reference encoder's `bytes_to_unicode`.)
    """
    itself = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    moved = [byte for byte in range(256) if byte not in itself]
    return {chr(byte): byte for byte in itself} | {
        chr(0x100 + place): byte for place, byte in enumerate(moved)
    }
