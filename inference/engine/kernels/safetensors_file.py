"""
The tensors of a folder of safetensors, memory-mapped: nothing is read until it is used.

The format: an int64 with the length of a JSON header, the header, then the bytes it points into.
bf16 comes as its bits in uint16, as numpy has no such type.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inference.engine.kernels.formats import Matrix, dense
from inference.engine.kernels.shape import Unsupported

_TYPES = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16}


class SafetensorsFolder:
    """Weights by the names that transformers gives them."""

    def __init__(self, folder: Path) -> None:
        self._tensors: dict[str, NDArray[Any]] = {}
        for path in sorted(folder.glob("*.safetensors")):
            self._tensors.update(_mapped(path))

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def matrix(self, name: str) -> Matrix:
        """A (rows, columns) weight."""
        tensor = self._tensors[name]
        return dense(tensor.astype(np.float32) if tensor.dtype == np.float16 else tensor)

    def vector(self, name: str) -> NDArray[np.float32]:
        """A norm's weight or a bias, as float32."""
        tensor = self._tensors[name]
        if tensor.dtype == np.uint16:
            return (tensor.astype(np.uint32) << 16).view(np.float32)
        return tensor.astype(np.float32)


def _mapped(path: Path) -> dict[str, NDArray[Any]]:
    content = np.memmap(path, np.uint8, mode="r")
    header_bytes = int(content[:8].view("<u8")[0])
    header = json.loads(content[8 : 8 + header_bytes].tobytes())
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if entry["dtype"] not in _TYPES:
            raise Unsupported(f"the kernels do not know weights of type {entry['dtype']}")
        begin, end = entry["data_offsets"]
        dtype = np.dtype(_TYPES[entry["dtype"]])
        if end - begin != math.prod(entry["shape"]) * dtype.itemsize:
            raise ValueError(f"{path}: {name} does not have the size of its shape")
        place = content[8 + header_bytes + begin : 8 + header_bytes + end]
        tensors[name] = place.view(dtype).reshape(entry["shape"])
    return tensors
