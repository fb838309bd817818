"""The embedded model in its own blocks, against transformers in float32 on the same weights."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from inference.engine.kernel_decoder import KernelDecoder
from inference.weights.resolve import resolve

pytestmark = pytest.mark.real_model

PROMPTS = [
    "The moon is",
    "Once upon a time there was a little girl who",
    "def fibonacci(n):\n",
    "The capital of France is Paris. The capital of Italy is",
    "1 + 1 = 2\n2 + 2 = 4\n3 + 3 =",
    "Water boils at",
    "La vie est",
    "<|im_start|>user\nWhat is a prime number?<|im_end|>\n<|im_start|>assistant\n",
    "a",
    "My favourite colour is blue, because it reminds me of the sea and of",
]
TOKENS = 32


@pytest.fixture(scope="module")
def checkpoint():
    return resolve(
        "smollm2-135m", model_path=None, weights_dir=Path(os.environ["TRACEAPP_WEIGHTS_DIR"])
    )


def test_ten_prompts_have_the_probabilities_text_and_top_ten_of_transformers(checkpoint):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(checkpoint.folder)
    model = AutoModelForCausalLM.from_pretrained(checkpoint.folder, dtype=torch.float32).eval()
    decoder = KernelDecoder.load(
        checkpoint.folder, gguf=checkpoint.gguf, context_length=2048, threads=2
    )
    assert decoder.weight_bytes < 120_000_000
    worst = 0.0
    for prompt in PROMPTS:
        ids = tokenizer.encode(prompt)
        context = decoder.new_context(len(ids) + TOKENS)
        rows = [decoder.prefill(context, ids)[0]]
        while len(rows) < TOKENS:
            rows.append(decoder.decode([context], [int(rows[-1].argmax())])[0])
        ours = torch.from_numpy(np.stack(rows))
        with torch.inference_mode():
            text = torch.tensor([[*ids, *ours.argmax(-1)[:-1].tolist()]])
            theirs = model(text).logits[0, len(ids) - 1 :]
        assert ours.argmax(-1).tolist() == theirs.argmax(-1).tolist()
        assert ours.topk(10).indices.tolist() == theirs.topk(10).indices.tolist()
        worst = max(worst, float((ours.softmax(-1) - theirs.softmax(-1)).abs().max()))
    assert worst < 2e-5
