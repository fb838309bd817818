"""
Where compiled kernels are kept between starts.

numba recompiles a function when its own file changes, but not when a file does that it calls into;
so the folder's name holds a digest of all of them, and of what compiles them. For which processor
a function was compiled numba knows itself.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from pathlib import Path

import llvmlite
import numba

KEPT = 3  # folders: of this version, and of those that ran last before it
DIGEST = re.compile("[0-9a-f]{16}")


def folder_of(folder: Path) -> Path:
    """Where under `folder` the compiled kernels of this version are, if there are any."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__}".encode())
    for source in sources:
        digest.update(source.read_bytes())
    return folder / digest.hexdigest()[:16]


def keep_compiled_under(folder: Path) -> None:
    """Keep and find compiled kernels there. Must be called before any kernel is imported.

    A new version's first start drops what older ones compiled, but for the last few.
    """
    kept = folder_of(folder)
    if not kept.exists():
        kept.mkdir(parents=True, exist_ok=True)
        _prune(folder)
    elif os.access(kept, os.W_OK):
        os.utime(kept)
    # From then on numba's own choice, beside the sources, is not tried: they may be read-only.
    numba.config.CACHE_DIR = str(kept)


def _prune(folder: Path) -> None:
    """Leave the folders that were used last. A process that still uses another compiles anew."""
    versions = [path for path in folder.iterdir() if DIGEST.fullmatch(path.name)]
    with contextlib.suppress(FileNotFoundError):  # another start drops the same ones
        versions.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in versions[KEPT:]:
            shutil.rmtree(path, ignore_errors=True)
