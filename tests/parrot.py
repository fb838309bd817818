"""
The product with a model that says what it is told: `python -m tests.parrot --port 0`.

All but the model is as `manage.py serve` has it. The last `SAY <<...>>` of the conversation, a
tool's result included, is the answer; `FAIL` in it breaks the model, and `WAIT` holds it up until
the next token is a second late. So a test of a client has the model's words in its own text.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import django
import numpy as np
from transformers import Qwen2Config

from inference.engine.engine import ModelEngine
from inference.engine.loading import vocabulary_of
from inference.engine.tokenizer import Tokenizer
from inference.engine.types import Logits
from inference.engine.vocabulary import Vocabulary
from tests.fakes import CARD, PADDING_ROWS, ScriptedDecoder
from tests.inference.chat.templates import QWEN3, tokenizer

ALIAS = "qwen3-0.6b"  # calls tools, and thinks
TURN = b"<|im_start|>assistant\n"
WISH = re.compile(rb"SAY <<(.*?)>>(?!>)", re.DOTALL)
FAIL, WAIT = b"FAIL", b"WAIT"


class Parrot(ScriptedDecoder):
    """A context is the list of the tokens that were read."""

    context_length = 2048

    def __init__(self, vocabulary: Vocabulary, encode: Any) -> None:
        super().__init__(lambda place: RuntimeError(), rows=vocabulary.rows)
        self._vocabulary = vocabulary
        self._encode = encode

    def fork(self, context: list[int], length: int, capacity: int) -> list[int]:
        return context[:length]

    def prefill(
        self, context: list[int], token_ids: Sequence[int], *, every_position: bool = False
    ) -> Logits:
        context += token_ids
        row = self._next(context)
        return np.tile(row, (len(token_ids) if every_position else 1, 1))

    def decode(self, contexts: Sequence[list[int]], token_ids: Sequence[int]) -> Logits:
        for context, token_id in zip(contexts, token_ids, strict=True):
            context.append(token_id)
        return np.stack([self._next(context) for context in contexts])

    def _next(self, context: list[int]) -> Logits:
        """What it wishes to say next is all but certain, at any temperature."""
        text = b"".join(self._vocabulary.tokens[token_id] for token_id in context)
        conversation, _, said = text.rpartition(TURN)
        wishes = WISH.findall(conversation)
        left = wishes[-1].removeprefix(said) if wishes and wishes[-1].startswith(said) else b""
        if left.startswith(FAIL):
            raise RuntimeError("as it was told")
        if left.startswith(WAIT):
            time.sleep(1)
        row = np.full(self.rows, -30.0, np.float32)
        row[self._first_token(left)] = 0.0
        return row

    def _first_token(self, text: bytes) -> int:
        if not text:
            return min(self._vocabulary.eos_ids)
        try:
            return int(self._encode(text.decode())[0])
        except UnicodeDecodeError:  # the rest of a character, of which each byte is a token
            return self._vocabulary.tokens.index(text[:1])


def parrot_engine() -> ModelEngine:
    made = tokenizer(QWEN3)
    config = Qwen2Config(eos_token_id=made.eos_token_id)
    vocabulary = vocabulary_of(made, config, rows=len(made) + PADDING_ROWS)
    decoder = Parrot(vocabulary, made.encode)
    assert vocabulary.source is not None
    return ModelEngine(decoder, vocabulary=vocabulary, tokenizer=Tokenizer(vocabulary.source))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    port = parser.parse_args().port
    django.setup()

    from channels.routing import ProtocolTypeRouter
    from daphne.endpoints import build_endpoint_description_strings
    from daphne.server import Server, reactor
    from django.core.asgi import get_asgi_application

    from inference import metrics, runtime
    from inference.runtime import Runtime
    from traceapp.body_limits import refuse_large_bodies

    def announce() -> None:
        print("the model is ready after 0.0 s")  # noqa: T201
        port = server.listening_addresses[0][1]
        print(f"Token Trace is at http://localhost:{port}/", flush=True)  # noqa: T201

    def stop(error: Exception) -> None:
        raise error

    refuse_large_bodies()
    card = replace(CARD, alias=ALIAS, served_name=ALIAS, max_model_len=Parrot.context_length)
    runtime.install(Runtime(card, parrot_engine, on_failure=stop, observer=metrics.observe))
    server: Any = Server(
        ProtocolTypeRouter({"http": get_asgi_application()}),
        endpoints=build_endpoint_description_strings(host="127.0.0.1", port=port),
        ready_callable=lambda: reactor.callWhenRunning(announce),
        server_name="",
    )
    server.run()
    runtime.current().close()


if __name__ == "__main__":
    main()
