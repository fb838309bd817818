"""
The head of a GGUF file: what it holds, without reading what it holds.

The gguf package builds an object for each of the 100,000 and more strings of a vocabulary,
which takes seconds; a bad file must be known within a moment of the start. So this reader
steps over the arrays, and checks that every tensor lies inside the file.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from inference.weights.errors import WeightsError

MAGIC = b"GGUF"
VERSIONS = (2, 3)  # version 1 counted in 32 bits, and nobody writes it any more

_STRING, _ARRAY = 8, 9
_SCALARS = {
    0: "<B",
    1: "<b",
    2: "<H",
    3: "<h",
    4: "<I",
    5: "<i",
    6: "<f",
    7: "<?",
    10: "<Q",
    11: "<q",
    12: "<d",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufHeader:
    architecture: str
    pre_tokenizer: str | None  # how text is split before merges, by llama.cpp's name for it
    head_dim: int | None  # where it is not hidden size / heads
    storage: str  # the type that most of the weights are stored in, such as Q4_1
    weights: int  # how many numbers


def read_header(path: Path) -> GgufHeader:
    """Read and check the head of a file; raises WeightsError if it is not a whole GGUF file."""
    if path.stat().st_size < 24:
        raise WeightsError(f"{path} is not a GGUF file, or is cut short.")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        try:
            return _Reader(content).header()
        except _Malformed as error:
            raise WeightsError(f"{path} {error}.") from error
        except (struct.error, UnicodeDecodeError, ValueError, OverflowError) as error:
            raise WeightsError(f"{path} is damaged or cut short ({error}).") from error


class _Malformed(Exception):
    """Ends the sentence that the file's name begins."""


class _Reader:
    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._at = 0

    def header(self) -> GgufHeader:
        if self._content[:4] != MAGIC:
            raise _Malformed("is not a GGUF file")
        self._at = 4
        if (version := self._scalar("<I")) not in VERSIONS:
            raise _Malformed(f"is GGUF version {version}; this program reads {VERSIONS}")
        tensors, fields = self._scalar("<Q"), self._scalar("<Q")
        values = dict(self._field() for _ in range(fields))
        architecture = values.get("general.architecture")
        if not isinstance(architecture, str):
            raise _Malformed("does not name its architecture")
        pre_tokenizer = values.get("tokenizer.ggml.pre")
        head_dim = values.get(f"{architecture}.attention.key_length")
        alignment = values.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment < 1:
            raise _Malformed("has no valid alignment")
        stored = self._tensors(tensors, alignment)
        return GgufHeader(
            architecture=architecture,
            pre_tokenizer=pre_tokenizer if isinstance(pre_tokenizer, str) else None,
            head_dim=head_dim if isinstance(head_dim, int) else None,
            storage=stored.most_common(1)[0][0],
            weights=stored.total(),
        )

    def _tensors(self, count: int, alignment: int) -> Counter[str]:
        """How many weights the file stores in each type; all of them must be in the file."""
        from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

        stored: Counter[str] = Counter()
        end = 0
        for _ in range(count):
            self._string()
            dimensions = [self._scalar("<Q") for _ in range(self._scalar("<I"))]
            kind = GGMLQuantizationType(self._scalar("<I"))
            offset = self._scalar("<Q")
            weights = math.prod(dimensions)
            block_weights, block_bytes = GGML_QUANT_SIZES[kind]
            end = max(end, offset + weights // block_weights * block_bytes)
            stored[kind.name] += weights
        if not stored:
            raise _Malformed("holds no weights")
        start = -(-self._at // alignment) * alignment
        if start + end > len(self._content):
            missing = start + end - len(self._content)
            raise _Malformed(f"is cut short: {missing:,} bytes of weights are missing")
        return stored

    def _field(self) -> tuple[str, object]:
        key = self._string().decode()
        return key, self._value(self._scalar("<I"))

    def _value(self, kind: int) -> object:
        if kind == _STRING:
            return self._string().decode()
        if kind == _ARRAY:
            self._skip_array(self._scalar("<I"), self._scalar("<Q"))
            return None
        if kind not in _SCALARS:
            raise _Malformed(f"has a field of the unknown type {kind}")
        return self._scalar(_SCALARS[kind])

    def _skip_array(self, kind: int, count: int) -> None:
        if kind == _STRING:
            for _ in range(count):
                self._string()
        elif kind in _SCALARS:
            self._take(count * struct.calcsize(_SCALARS[kind]))
        else:
            raise _Malformed(f"has an array of the unknown type {kind}")

    def _string(self) -> bytes:
        start = self._take(self._scalar("<Q"))
        return self._content[start : self._at]

    def _scalar(self, layout: str) -> int:
        start = self._take(struct.calcsize(layout))
        value: int = struct.unpack_from(layout, self._content, start)[0]
        return value

    def _take(self, length: int) -> int:
        """Step over that many bytes; gives where they begin."""
        start = self._at
        if start + length > len(self._content):
            raise _Malformed("is cut short")
        self._at = start + length
        return start
