"""
A model's tokenizer, as the tokenizers library runs it.

What the files of a folder mean together is for transformers to say, and torch comes with it: two
seconds and 200 MB that nothing else needs where the kernels run the model. So what it said is kept
beside a digest of all that it was read from, and the next start takes it from there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import tokenizers

from inference.engine.vocabulary import TokenizerSource

# Of a folder, what transformers may make a tokenizer of; none of them is larger than that.
READ = ("*.json", "*.txt", "*.model", "*.jinja", "*/*.jinja")
MOST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class TokenizerFiles:
    """What transformers makes of the files of a folder."""

    source: TokenizerSource
    eos_ids: frozenset[int]  # what ends a completion


class Tokenizer:
    """Text to token ids; any number of threads may use it at once.

    A control token that a text spells out is read as such, whatever a file says of splitting them.
    """

    def __init__(self, source: TokenizerSource) -> None:
        self._tokenizer = tokenizers.Tokenizer.from_str(source.json)
        # A file may say so, for training; a prompt is read as it is.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text).ids


def read_once(
    folder: Path, read: Callable[[Path], TokenizerFiles], *, kept_dir: Path
) -> TokenizerFiles:
    """What `read` gives for the folder: kept from an earlier start if nothing has changed since."""
    try:
        digest = _digest_of(folder)
    except OSError:  # of a file that may be of no matter: `read` knows
        return read(folder)
    kept = kept_dir / f"{hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]}.json"
    with contextlib.suppress(OSError):  # there is none
        seal, _, said = kept.read_text("utf-8", "replace").partition("\n")
        if seal == _seal_of(digest, said):  # else it is of other files, or damaged
            content = json.loads(said)
            return TokenizerFiles(
                TokenizerSource(**content["source"]), frozenset(content["eos_ids"])
            )
    files = read(folder)
    said = json.dumps({"source": asdict(files.source), "eos_ids": sorted(files.eos_ids)})
    with contextlib.suppress(OSError):  # a data folder that is read-only: the next reads anew
        _write(kept, f"{_seal_of(digest, said)}\n{said}")
    return files


def _seal_of(digest: str, said: str) -> str:
    """A line that only this text of files with this digest can have before it."""
    return hashlib.sha256(f"{digest}\n{said}".encode("utf-8", "surrogatepass")).hexdigest()


def _digest_of(folder: Path) -> str:
    """Of all that the reading depends on: the files, the libraries, and this code."""
    libraries = [f"{name} {version(name)}" for name in ("tokenizers", "transformers")]
    digest = hashlib.sha256("\n".join(libraries).encode())
    places = [Path(__file__), Path(__file__).with_name("loading.py")]
    places += sorted(path for pattern in READ for path in folder.glob(pattern))
    for path in places:
        if path.is_file() and path.stat().st_size <= MOST_BYTES:
            content = path.read_bytes()
            digest.update(f"\n{path} {len(content)}\n".encode("utf-8", "surrogateescape"))
            digest.update(content)
    return digest.hexdigest()


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_name(f"{path.name}.{os.getpid()}")  # whole before it has the name
    try:
        made.write_text(text)
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)
