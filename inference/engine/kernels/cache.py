"""
Where compiled kernels are kept between starts.

numba recompiles a function when its own file changes, but not when a file does that it calls into;
so the folder's name holds a digest of all of them, and of what compiles them. For which processor
a function was compiled numba knows itself.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import llvmlite
import numba


def keep_compiled_under(folder: Path) -> None:
    """Keep and find compiled kernels there. Must be called before any kernel is imported."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__}".encode())
    for source in sources:
        digest.update(source.read_bytes())
    # From then on numba's own choice, beside the sources, is not tried: they may be read-only.
    numba.config.CACHE_DIR = str(folder / digest.hexdigest()[:16])
