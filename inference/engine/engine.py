"""
The model with its vocabulary: what the runtime drives, one turn at a time.

A turn reads a part of one prompt, or one token of every running sequence. The turns of several
sequences may alternate in any order; none changes what another gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from inference.engine.decoder import Decoder
from inference.engine.generation import Choice, Generation
from inference.engine.kernels import selection
from inference.engine.prefix_cache import PrefixCache
from inference.engine.prompt import Prompt
from inference.engine.token_index import TokenIndex
from inference.engine.types import Event, GenerationRequest, Logits
from inference.engine.vocabulary import Vocabulary


class Tokenizer(Protocol):
    """Any number of threads may call it at once."""

    def encode(self, text: str) -> list[int]: ...


class Engine(Protocol):
    """What the runtime asks of a model. Only `encode` may be called from another thread."""

    vocabulary: Vocabulary
    token_index: TokenIndex
    max_batch: int

    def encode(self, text: str) -> list[int]:
        """The token ids of a raw prompt; control tokens spelt out in it are read as such."""
        ...

    def open(self, request: GenerationRequest) -> Generation: ...

    def turn(self, generations: Sequence[Generation]) -> list[TurnOutcome]:
        """Take each generation one turn further; what one raises is its own outcome."""
        ...

    def release(self, generation: Generation) -> None:
        """The generation has ended or was given up; its owner's next may continue from it."""
        ...

    def forget(self, owner: str) -> None:
        """Keep nothing more for this owner."""
        ...


# What a turn gave of one generation, perhaps nothing yet; or what went wrong with it alone.
TurnOutcome = list[Event] | Exception


class ModelEngine:
    """An engine over any `Decoder`."""

    def __init__(self, decoder: Decoder, *, vocabulary: Vocabulary, tokenizer: Tokenizer) -> None:
        self.vocabulary = vocabulary
        self.token_index = TokenIndex(vocabulary.tokens)
        self.max_batch = decoder.max_batch
        self._decoder = decoder
        self._tokenizer = tokenizer
        self._prefixes = PrefixCache(decoder)
        selection.warm_up()

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text)

    def open(self, request: GenerationRequest) -> Generation:
        capacity = _capacity(request)
        if (found := self._prefixes.find(request)) is None:
            prompt = Prompt(request, self._decoder.new_context(capacity))
        else:
            context = self._decoder.fork(found.context, found.length, capacity)
            prompt = Prompt(request, context, already_read=found.length, rows=found.rows)
        return Generation(request, self.vocabulary, prompt)

    def release(self, generation: Generation) -> None:
        self._prefixes.keep(generation)

    def forget(self, owner: str) -> None:
        self._prefixes.forget(owner)

    def turn(self, generations: Sequence[Generation]) -> list[TurnOutcome]:
        for generation in generations:
            for choice in generation.live:
                choice.begin_turn()
        reading = [not generation.has_begun for generation in generations]
        choices = [
            choice
            for generation, is_reading in zip(generations, reading, strict=True)
            if not is_reading
            for choice in generation.live
        ]
        rows = iter(self._decode(choices))
        return [
            _attempt(self._read_prompt if is_reading else _advance, generation, rows)
            for generation, is_reading in zip(generations, reading, strict=True)
        ]

    def _decode(self, choices: list[Choice]) -> list[Logits | Exception]:
        """The logits after each last token, in as few passes as the decoder takes."""
        size = self._decoder.max_batch
        return [
            row
            for start in range(0, len(choices), size)
            for row in self._decode_together(choices[start : start + size])
        ]

    def _decode_together(self, choices: list[Choice]) -> list[Logits | Exception]:
        """One pass; where it fails, each is tried alone, so that one failure is one's own."""
        contexts = [choice.context for choice in choices]
        last_ids = [choice.last_id for choice in choices]
        try:
            return list(self._decoder.decode(contexts, last_ids))
        except Exception as error:
            if len(choices) == 1:
                return [error]
            return [row for choice in choices for row in self._decode_together([choice])]

    def _read_prompt(
        self, generation: Generation, _rows: Iterator[Logits | Exception]
    ) -> list[Event]:
        prompt = generation.prompt
        if not prompt.is_read:  # a kept prefix can hold all of it
            part, every_position = prompt.next_part()
            rows = self._decoder.prefill(prompt.context, part, every_position=every_position)
            prompt.take(part, rows, listable=len(self.vocabulary.tokens))
        if not prompt.is_read:
            return []
        self._share_context(generation)
        events: list[Event] = []
        if (scores := prompt.scores()) is not None:
            events.append(scores)
        for row in prompt.rows:
            events += [choice.advance(row) for choice in generation.live]
        return events

    def _share_context(self, generation: Generation) -> None:
        """Every choice but the first continues in a copy of what the prompt left."""
        request, context = generation.request, generation.prompt.context
        length = len(request.prompt_ids) + len(request.forced_ids)
        for choice in generation.choices[1:]:
            choice.context = self._decoder.fork(context, length, _capacity(request))
        generation.choices[0].context = context


def _capacity(request: GenerationRequest) -> int:
    return len(request.prompt_ids) + request.max_tokens


def _advance(generation: Generation, rows: Iterator[Logits | Exception]) -> list[Event]:
    # Taken before any is used: the next generation's rows follow these.
    own = [(choice, next(rows)) for choice in generation.live]
    events: list[Event] = []
    for choice, row in own:
        if isinstance(row, Exception):
            raise row
        events.append(choice.advance(row))
    return events


def _attempt(
    act: Callable[[Generation, Iterator[Logits | Exception]], list[Event]],
    generation: Generation,
    rows: Iterator[Logits | Exception],
) -> TurnOutcome:
    try:
        return act(generation, rows)
    except Exception as error:
        return error
