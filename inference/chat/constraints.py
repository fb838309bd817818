"""Grammars at work while a model draws: which tokens may come next."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import numpy as np
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper
from numpy.typing import NDArray
from tokenizers import Tokenizer

from inference.chat.compiling import compile_grammar, find_error, readable
from inference.chat.grammar import Grammar
from inference.engine.types import Constraint
from inference.engine.vocabulary import Vocabulary
from inference.errors import InferenceFailed, Rejected

MAX_KEPT: Final = 16  # compiled grammars, of some megabytes each; clients repeat theirs


class Grammars:
    """The grammars of one model. Any number of threads may use it at once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._lock = threading.Lock()
        self._compiled: OrderedDict[str, LLMatcher] = OrderedDict()
        self._made_tokenizer: LLTokenizer | None = None  # takes a second, and few ever ask

    def constraint(self, grammar: Grammar) -> Callable[[], Constraint]:
        """What makes a constraint for each choice. Blocks while a new grammar is compiled.

        Raises Rejected for a schema that is wrong, not supported or too costly.
        """
        with self._lock:  # one grammar at a time: a crowd of them shall not take every core
            matcher = self._compiled.get(grammar.lark)
            if matcher is None:
                matcher = self._compile(grammar)
                self._compiled[grammar.lark] = matcher
                if len(self._compiled) > MAX_KEPT:
                    self._compiled.popitem(last=False)
            self._compiled.move_to_end(grammar.lark)
            # A copy of the request's own: the worker must not wait for others' compilations.
            own = matcher.deep_copy()
        return lambda: GrammarConstraint(own.deep_copy(), self._vocabulary)

    def _compile(self, grammar: Grammar) -> LLMatcher:
        if (error := find_error(grammar.lark)) is not None:
            raise Rejected(f"{grammar.param}: {error}", param=grammar.param)
        matcher = compile_grammar(self._tokenizer(), grammar.lark)
        if matcher.is_error():
            error = readable(matcher.get_error())
            raise Rejected(f"{grammar.param}: {error}", param=grammar.param)
        return matcher

    def _tokenizer(self) -> LLTokenizer:
        if self._made_tokenizer is None:
            self._made_tokenizer = LLTokenizer(
                TokenizerWrapper(_Tokens(self._vocabulary)),
                n_vocab=len(self._vocabulary.tokens),
                eos_token=sorted(self._vocabulary.eos_ids),
            )
        return self._made_tokenizer


class GrammarConstraint:
    """One choice's place in a grammar."""

    def __init__(self, matcher: LLMatcher, vocabulary: Vocabulary) -> None:
        self._matcher = matcher
        self._vocabulary = vocabulary
        self._has_ended = False

    def allowed(self) -> NDArray[np.bool_]:
        """Which ids may follow, (V,) bool; the end of sequence alone where nothing else may.

        Raises InferenceFailed where the grammar grew beyond its bounds.
        """
        size = len(self._vocabulary.tokens)
        if self._has_ended:
            ends = np.zeros(size, np.bool_)
            ends[list(self._vocabulary.eos_ids)] = True
            return ends
        bits = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        self._check()
        return np.unpackbits(bits, count=size, bitorder="little").view(np.bool_)

    def accept(self, token_id: int) -> None:
        if self._has_ended:
            return
        self._matcher.consume_token(token_id)
        self._check()
        self._has_ended = token_id in self._vocabulary.eos_ids

    def _check(self) -> None:
        if self._matcher.is_error():
            raise InferenceFailed("the answer's schema became too complex to follow")


class _Tokens:
    """A vocabulary as llguidance reads one."""

    bos_token_id = None

    def __init__(self, vocabulary: Vocabulary) -> None:
        if vocabulary.source is None:
            raise ValueError("the vocabulary does not say how text becomes its tokens")
        self.eos_token_id = min(vocabulary.eos_ids)
        self.tokens = list(vocabulary.tokens)
        self.special_token_ids = sorted(vocabulary.special_ids)
        # One of its own: it is told how to read control tokens, and never again.
        self._tokenizer = Tokenizer.from_str(vocabulary.source.json)
        self._tokenizer.encode_special_tokens = True  # as the text that they are
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def __call__(self, text: str) -> list[int]:
        """The model's own tokens of a text: where a grammar leaves one text, it gives these."""
        return self._tokenizer.encode(text, add_special_tokens=False).ids
