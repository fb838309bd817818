"""
Where compiled kernels are kept between starts.

numba recompiles a function when its own file changes, but not when a file does that it calls into;
so the folder's name holds a digest of all of them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numba


def keep_compiled_under(folder: Path) -> None:
    """Keep and find compiled kernels there. Must be called before any kernel is imported."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources))
    # From then on numba's own choice, beside the sources, is not tried: they may be read-only.
    numba.config.CACHE_DIR = str(folder / digest.hexdigest()[:16])
