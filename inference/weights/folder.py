"""
A folder that transformers can load: config.json, tokenizer.json and safetensors.

Nothing here reads the weights themselves, only their headers, so a bad folder is known
in milliseconds. Whether the bytes are the right ones is for hub.py and manifest.py.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer

from inference.catalogue import Architecture
from inference.weights.architecture import Shape, architecture_of, expected_tensors
from inference.weights.errors import WeightsError
from inference.weights.files import sha256_of

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
DTYPES = {"F32": "float32", "BF16": "bfloat16", "F16": "float16"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFolder:
    """What a folder turned out to hold, once it was checked."""

    architecture: Architecture
    dtype: str  # that of the embedding, as torch names it
    weight_files: tuple[Path, ...]


def check_folder(folder: Path) -> ModelFolder:
    """Check that the folder holds one whole model of an architecture that we serve.

    Raises WeightsError, which names the file at fault.
    """
    config = _read_json(folder / "config.json")
    try:
        architecture = architecture_of(config)
        if config.get("quantization_config"):
            raise WeightsError("The weights are quantised; only plain ones can be served.")
        files = weight_files(folder)
        tensors = {name: entry for file in files for name, entry in _tensors(file).items()}
        _check_tensors(config, {name: shape for name, (shape, _) in tensors.items()})
    except WeightsError as error:
        raise WeightsError(f"{folder} cannot be served. {error}") from error
    _check_tokenizer(folder / "tokenizer.json", rows=int(str(config["vocab_size"])))
    return ModelFolder(
        architecture=architecture,
        dtype=tensors["model.embed_tokens.weight"][1],
        weight_files=files,
    )


def weight_files(folder: Path) -> tuple[Path, ...]:
    """The safetensors of a folder, one or the shards that an index names."""
    if (folder / WEIGHTS).exists():
        return (folder / WEIGHTS,)
    if not (folder / INDEX).exists():
        raise WeightsError(f"It holds no {WEIGHTS}; pickled weights are never read.")
    shards = _read_json(folder / INDEX).get("weight_map")
    if not isinstance(shards, dict) or not shards:
        raise WeightsError(f"{INDEX} names no shards.")
    names = sorted({str(name) for name in shards.values()})
    for name in names:
        if Path(name).name != name:
            raise WeightsError(f"{INDEX} names {name!r}, which is not a file beside it.")
        if not (folder / name).exists():
            raise WeightsError(f"{name} is missing.")
    return tuple(folder / name for name in names)


def combined_sha256(digests: dict[str, str]) -> str:
    """A checkpoint's SHA-256: its one file's, or that of its shards' list as sha256sum has it."""
    if len(digests) == 1:
        return next(iter(digests.values()))
    lines = "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))
    return hashlib.sha256(lines.encode()).hexdigest()


def sha256_of_weights(files: tuple[Path, ...]) -> str:
    return combined_sha256({file.name: sha256_of(file) for file in files})


def _tensors(file: Path) -> dict[str, tuple[Shape, str]]:
    try:
        # This also compares the file's length with what its header promises.
        with safe_open(file, framework="numpy") as opened:
            slices = {name: opened.get_slice(name) for name in opened.keys()}  # noqa: SIM118
            found = {
                name: (tuple(part.get_shape()), part.get_dtype()) for name, part in slices.items()
            }
    except (SafetensorError, OSError) as error:
        raise WeightsError(f"{file.name} is damaged or cut short ({error}).") from error
    for name, (_, dtype) in found.items():
        if dtype not in DTYPES:
            raise WeightsError(f"{name} is stored as {dtype}; only {', '.join(DTYPES)} are served.")
    return {name: (shape, DTYPES[dtype]) for name, (shape, dtype) in found.items()}


def _check_tensors(config: dict[str, Any], shapes: dict[str, Shape]) -> None:
    for name, shape in expected_tensors(config):
        if name not in shapes:
            raise WeightsError(f"The weights lack {name}, which config.json calls for.")
        if shapes[name] != shape:
            raise WeightsError(f"{name} has shape {shapes[name]}; config.json calls for {shape}.")


def _check_tokenizer(path: Path, *, rows: int) -> None:
    if not path.exists():
        raise WeightsError(f"{path} is missing.")
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises a bare Exception, of which this is all there is
        raise WeightsError(f"{path} is not a tokenizer ({error}).") from error
    highest = max(tokenizer.get_vocab().values(), default=-1)
    if highest >= rows:
        raise WeightsError(f"{path} has token {highest}, and the model only {rows} rows.")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise WeightsError(f"{path} is missing.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise WeightsError(f"{path} cannot be read ({error}).") from error
    if not isinstance(content, dict):
        raise WeightsError(f"{path} is not a JSON object.")
    return content
