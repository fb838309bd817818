"""
A GGUF file made into a folder of float32 safetensors and a tokenizer, once.

The one module of weights/ that imports torch and transformers, and only when it converts.
A converted folder is named after the SHA-256 of its source, appears whole or not at all,
and carries a manifest that is checked before each load.
"""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

from inference.catalogue import Architecture
from inference.weights.architecture import architecture_of
from inference.weights.errors import WeightsError
from inference.weights.files import (
    Report,
    only_writer,
    partial_folder,
    publish,
    require_free_space,
    silently,
)
from inference.weights.folder import check_folder
from inference.weights.gguf_header import GgufHeader, read_header
from inference.weights.manifest import check_manifest, write_manifest
from inference.weights.splitting import apply_rule, check_rule

# Raise it when a change here makes other files out of the same GGUF file: it is part of the
# folder's name, so what an older program converted is left alone and converted anew.
FORMAT = 1

TOKENIZER_BYTES = 20_000_000  # a tokenizer.json of 150,000 tokens has 11 MB
BYTES_PER_WEIGHT = 4


def converted_folder(weights_dir: Path, gguf_sha256: str) -> Path:
    return weights_dir / "converted" / f"{gguf_sha256[:16]}-v{FORMAT}"


def check_gguf(gguf: Path) -> tuple[GgufHeader, Architecture]:
    """Check what can be known of a GGUF file without converting it; raises WeightsError."""
    header = read_header(gguf)
    try:
        architecture = architecture_of({"model_type": header.architecture})
        check_rule(header.pre_tokenizer)
    except WeightsError as error:
        raise WeightsError(f"{gguf} cannot be served. {error}") from error
    return header, architecture


def ensure_converted(
    gguf: Path,
    *,
    gguf_sha256: str,
    weights_dir: Path,
    repair: bool = False,
    report: Report = silently,
) -> Path:
    """The checked folder made from this file; converts it first if that was never done.

    Takes seconds and four bytes of disk a weight. A folder that fails its check raises
    WeightsError, or with `repair` is made again. Safe in many processes at once.
    """
    folder = converted_folder(weights_dir, gguf_sha256)
    if folder.exists() and _is_sound(folder, gguf_sha256, repair=repair):
        return folder
    header, _ = check_gguf(gguf)
    with only_writer(folder.parent, report):
        if folder.exists() and _is_sound(folder, gguf_sha256, repair=repair):
            return folder  # another process made it while this one waited
        needed_bytes = header.weights * BYTES_PER_WEIGHT + TOKENIZER_BYTES
        require_free_space(folder.parent, needed_bytes, f"Converting {gguf.name}")
        with partial_folder(folder.parent) as partial:
            report(f"converting {gguf.name} to float32 safetensors")
            _convert(gguf, partial, header)
            report("checking what was written")
            check_folder(partial)
            write_manifest(partial, gguf_sha256=gguf_sha256, versions=_versions())
            report("putting it in place")
            publish(partial, folder)
    return folder


def _is_sound(folder: Path, gguf_sha256: str, *, repair: bool) -> bool:
    try:
        check_manifest(folder, gguf_sha256=gguf_sha256)
        check_folder(folder)
    except WeightsError as error:
        if repair:
            return False
        raise WeightsError(
            f"{error} Remove {folder}, or run `python manage.py fetch_model`, to make it again."
        ) from error
    return True


def _convert(gguf: Path, folder: Path, header: GgufHeader) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    # transformers also reads a tokenizer that lies beside the file, be it that model's or not,
    # so it is shown the file alone.
    with partial_folder(folder.parent) as alone:
        (alone / gguf.name).symlink_to(gguf.absolute())
        try:
            config = AutoConfig.from_pretrained(alone, gguf_file=gguf.name, local_files_only=True)
            if header.head_dim is not None:
                config.head_dim = header.head_dim  # transformers leaves Qwen3's at its default
            # The annotation of from_pretrained leaves out that it then gives a pair.
            loaded: Any = AutoModelForCausalLM.from_pretrained(
                alone,
                gguf_file=gguf.name,
                config=config,
                dtype=torch.float32,
                local_files_only=True,
                output_loading_info=True,
            )
            model, loading = loaded
            tokenizer = AutoTokenizer.from_pretrained(
                alone, gguf_file=gguf.name, local_files_only=True
            )
        except Exception as error:  # a bad file ends in any of a dozen, by what it breaks first
            raise WeightsError(f"{gguf} cannot be converted ({error}).") from error
    if missing := sorted(loading["missing_keys"]):
        raise WeightsError(f"{gguf} cannot be converted: it lacks {missing[0]}.")
    if header.pre_tokenizer is not None:
        apply_rule(tokenizer.backend_tokenizer, header.pre_tokenizer)
    model.hf_quantizer = None  # else save_pretrained writes the blocks' types into config.json
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    for path in folder.iterdir():
        path.chmod(0o644)  # safetensors writes 0600, which hides it from a service's own user


def _versions() -> dict[str, str]:
    return {name: version(name) for name in ("gguf", "safetensors", "tokenizers", "transformers")}
