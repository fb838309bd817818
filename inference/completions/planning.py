"""From what a caller asks to what the engine is asked; whatever cannot be is refused here."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from inference.completions.settings import CompletionSettings, Prompt
from inference.engine.types import GenerationRequest
from inference.engine.vocabulary import Vocabulary
from inference.errors import ContextFull, Rejected
from inference.limits import Limits

if TYPE_CHECKING:  # it compiles kernels
    from inference.engine.engine import Engine

MAX_PROMPTS = 128  # of one request; an evaluation harness sends batches of up to 64
MAX_LISTED = 10  # of what is wrong with one field
MAX_ECHO = 200  # characters of the caller's own input in an answer
# What documents are parted by: where no prompt is given, the model writes one from its beginning.
DOCUMENT_START = b"<|endoftext|>"
# Shorter texts are tokenised faster than a thread is reached.
QUICK_CHARACTERS = 4096


async def encode(prompt: Prompt, engine: Engine) -> tuple[int, ...]:
    """The ids of one prompt, at least one. Raises Rejected."""
    vocabulary = engine.vocabulary
    if isinstance(prompt, str):
        if len(prompt) <= QUICK_CHARACTERS:
            ids = tuple(engine.encode(prompt))
        else:
            ids = tuple(await asyncio.to_thread(engine.encode, prompt))
        return ids or (document_start(vocabulary),)
    if not prompt:
        raise Rejected("prompt: a list of token ids must not be empty", param="prompt")
    unknown = [str(token_id) for token_id in prompt if not 0 <= token_id < len(vocabulary.tokens)]
    if unknown:
        raise Rejected(f"prompt: {_outside(unknown, vocabulary)}", param="prompt")
    return prompt


def document_start(vocabulary: Vocabulary) -> int:
    """The token that stands before the first of a document."""
    for token_id in sorted(vocabulary.special_ids):
        if vocabulary.tokens[token_id] == DOCUMENT_START:
            return token_id
    return min(vocabulary.eos_ids)


def plan(
    prompts: Sequence[tuple[int, ...]],
    settings: CompletionSettings,
    *,
    vocabulary: Vocabulary,
    context_length: int,
    limits: Limits,
) -> list[GenerationRequest]:
    """One request for each prompt. Raises Rejected or ContextFull, naming the field."""
    _check(prompts, settings, vocabulary=vocabulary, limits=limits)
    return [
        GenerationRequest(
            prompt_ids=prompt_ids,
            max_tokens=_room(prompt_ids, settings, context_length=context_length, limits=limits),
            sampling=settings.sampling,
            num_candidates=settings.num_candidates or 0,
            num_choices=settings.num_choices,
            score_prompt=settings.echo and settings.num_candidates is not None,
            ignore_eos=settings.ignore_eos,
            min_tokens=settings.min_tokens,
            stop_ids=_special_stops(settings.stop, vocabulary),
            constraint=settings.constraint,
        )
        for prompt_ids in prompts
    ]


def _outside(ids: Sequence[str], vocabulary: Vocabulary) -> str:
    listed = ", ".join(ids[:MAX_LISTED])[:MAX_ECHO]
    more = f" and {len(ids) - MAX_LISTED} more" if len(ids) > MAX_LISTED else ""
    return f"not a token id of this vocabulary of {len(vocabulary.tokens)}: {listed}{more}"


def _check(
    prompts: Sequence[tuple[int, ...]],
    settings: CompletionSettings,
    *,
    vocabulary: Vocabulary,
    limits: Limits,
) -> None:
    if not prompts:
        raise Rejected("prompt: the list must not be empty", param="prompt")
    if len(prompts) > MAX_PROMPTS:
        raise Rejected(
            f"prompt: {len(prompts)} prompts are over the limit of {MAX_PROMPTS}", param="prompt"
        )
    if settings.num_choices > limits.max_choices:
        raise Rejected(
            f"n: {settings.num_choices} is over the limit of {limits.max_choices}", param="n"
        )
    if settings.max_tokens == 0 and not settings.echo:
        raise Rejected("max_tokens: 0 draws nothing; it is of use with echo", param="max_tokens")
    if settings.min_tokens > settings.max_tokens:
        raise Rejected(
            f"min_tokens: {settings.min_tokens} is over the most that may be drawn, "
            f"{settings.max_tokens}",
            param="min_tokens",
        )
    bias = settings.sampling.logit_bias
    unknown = [str(token_id) for token_id in bias if token_id >= len(vocabulary.tokens)]
    if unknown:
        raise Rejected(f"logit_bias: {_outside(unknown, vocabulary)}", param="logit_bias")
    if "" in settings.stop:
        raise Rejected("stop: the empty string is in every text", param="stop")


def _room(
    prompt_ids: tuple[int, ...],
    settings: CompletionSettings,
    *,
    context_length: int,
    limits: Limits,
) -> int:
    """The most tokens that each choice may have."""
    needed = min(settings.max_tokens, 1)
    if len(prompt_ids) + needed > context_length:
        raise ContextFull(
            f"the prompt has {len(prompt_ids)} tokens, and the model's context holds "
            f"{context_length}: no room is left for a completion",
            param="prompt",
        )
    room = context_length - len(prompt_ids)
    return min(settings.max_tokens, room, limits.max_completion_tokens)


def _special_stops(stops: Sequence[str], vocabulary: Vocabulary) -> frozenset[int]:
    """The control tokens that stop strings spell: those are part of no text to be found in."""
    spelt = {stop.encode("utf-8", "replace") for stop in stops}
    return frozenset(i for i in vocabulary.special_ids if vocabulary.tokens[i] in spelt)
