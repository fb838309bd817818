"""Models of a few kilobytes, written the way real ones are: as GGUF files and as folders."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, quants
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers.convert_slow_tokenizer import bytes_to_unicode

HIDDEN, INNER, LAYERS, HEADS, KV_HEADS = 64, 128, 2, 2, 1
HEAD_DIM = HIDDEN // HEADS

# Each merge is one that only some rule of splitting lets happen.
MERGES = ["Ġ Ġ", "Ġ 2", "1 2", "ĠĠ 1", "t h", "th e", "Ġ the", "' s", "e 2", "Ċ Ċ", "Ã ©"]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TOKENS = [
    *SPECIAL,
    *bytes_to_unicode().values(),
    *(merge.replace(" ", "") for merge in MERGES),
]

AWKWARD = [
    "",
    " ",
    "  2",
    " 2",
    "12",
    "  12 122",
    "the  the2",
    "it's the's'S",
    "\n\n2\r\n  \t the",
    "\x00\x7f",
    "caf\u00e9 cafe\u0301",  # the same word composed and not
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0645\u0631\u062d\u0628\u0627 \u0661\u0662",
    "<|im_end|>the<|endoftext|>",
    "x\u00a0\u20282\ufeff",
]


def write_gguf(
    path: Path,
    *,
    architecture: str = "llama",
    pre: str | None = "smollm",
    storage: GGMLQuantizationType = GGMLQuantizationType.F32,
    leave_out: str | None = None,
) -> dict[str, np.ndarray]:
    """Write a random model; gives the float32 tensors as a reader of the file sees them."""
    writer = GGUFWriter(path, architecture)
    writer.add_name("tiny")
    writer.add_context_length(128)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(len(TOKENS))
    if architecture == "llama":
        writer.add_rope_dimension_count(HEAD_DIM)
    if architecture == "qwen3":
        writer.add_key_length(HEAD_DIM)
    writer.add_tokenizer_model("gpt2")
    if pre is not None:
        writer.add_tokenizer_pre(pre)
    writer.add_token_list(TOKENS)
    writer.add_token_types([3] * len(SPECIAL) + [1] * (len(TOKENS) - len(SPECIAL)))
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_chat_template("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}")

    random = np.random.default_rng(0)
    seen = {}
    for name, shape in _shapes(architecture).items():
        values = random.standard_normal(shape).astype(np.float32)
        if name == leave_out:
            continue
        if len(shape) == 2 and storage is not GGMLQuantizationType.F32:
            blocks = quants.quantize(values, storage)
            writer.add_tensor(name, blocks, raw_dtype=storage)
            values = quants.dequantize(blocks, storage)
        else:
            writer.add_tensor(name, values)
        seen[name] = values
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return seen


def _shapes(architecture: str) -> dict[str, tuple[int, ...]]:
    query, key_value = HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (len(TOKENS), HIDDEN),
        "output_norm.weight": (HIDDEN,),
    }
    for layer in range(LAYERS):
        block = {
            "attn_norm.weight": (HIDDEN,),
            "ffn_norm.weight": (HIDDEN,),
            "attn_q.weight": (query, HIDDEN),
            "attn_k.weight": (key_value, HIDDEN),
            "attn_v.weight": (key_value, HIDDEN),
            "attn_output.weight": (HIDDEN, query),
            "ffn_gate.weight": (INNER, HIDDEN),
            "ffn_up.weight": (INNER, HIDDEN),
            "ffn_down.weight": (HIDDEN, INNER),
        }
        if architecture == "qwen2":
            block |= {"attn_q.bias": (query,), "attn_k.bias": (key_value,)}
            block |= {"attn_v.bias": (key_value,)}
        if architecture == "qwen3":
            block |= {"attn_q_norm.weight": (HEAD_DIM,), "attn_k_norm.weight": (HEAD_DIM,)}
        shapes |= {f"blk.{layer}.{name}": shape for name, shape in block.items()}
    return shapes


def tokenizer(pre_tokenizer: pre_tokenizers.PreTokenizer | None = None) -> Tokenizer:
    """The tiny vocabulary with that rule of splitting; by default GPT-2's."""
    vocab = {token: token_id for token_id, token in enumerate(TOKENS)}
    pairs = [(left, right) for left, _, right in (merge.partition(" ") for merge in MERGES)]
    made = Tokenizer(models.BPE(vocab=vocab, merges=pairs))
    made.pre_tokenizer = pre_tokenizer or pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(SPECIAL)
    return made


def write_folder(
    folder: Path,
    *,
    architecture: str = "llama",
    dtype: str = "float32",
    tied: bool = True,
    shard_size: str = "1GB",
) -> Path:
    """Write a random model as transformers does, which is the oracle for what belongs in it."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.for_model(
        architecture,
        vocab_size=len(TOKENS),
        hidden_size=HIDDEN,
        intermediate_size=INNER,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        head_dim=HEAD_DIM,
        max_position_embeddings=128,
        tie_word_embeddings=tied,
    )
    model = AutoModelForCausalLM.from_config(config, dtype=getattr(torch, dtype))
    model.save_pretrained(folder, max_shard_size=shard_size)
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def edit_config(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def cut_short(path: Path, *, by: int = 1) -> None:
    path.write_bytes(path.read_bytes()[:-by])


def alter(path: Path) -> None:
    """Change one bit near the end, where the weights lie."""
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
