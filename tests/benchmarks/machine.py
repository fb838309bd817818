"""What the machine is, and how fast it reads memory."""

from __future__ import annotations

import os
import platform
import threading
import time
from pathlib import Path
from statistics import median

import numba
import numpy as np
from numpy.typing import NDArray

BYTES = 1 << 30  # larger than any cache


@numba.njit(nogil=True, fastmath=True)
def _sum(values: NDArray[np.float32]) -> float:
    total = np.float32(0)
    for i in range(values.size):
        total += values[i]
    return float(total)


def read_bandwidth(threads: int, *, rounds: int = 5) -> float:
    """Bytes a second that so many threads read together: the median of several passes."""
    values = np.ones(BYTES // 4, np.float32)  # written, so that the pages are there
    parts = np.array_split(values, threads)
    _sum(parts[0][:1])
    seconds = []
    for _ in range(rounds):
        readers = [threading.Thread(target=_sum, args=[part]) for part in parts]
        begun = time.perf_counter()
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        seconds.append(time.perf_counter() - begun)
    return BYTES / median(seconds)


def description() -> str:
    """Processor, vector instructions, load and versions: one line."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    named = {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)
    }
    flags = set(named.get("flags", "").split())
    vectors = next((name for name in ("avx512f", "avx2") if name in flags), "no AVX")
    processor = named.get("model name", platform.processor())
    return (
        f"{os.cpu_count()} cores of {processor} (family {named.get('cpu family', '?')}, model "
        f"{named.get('model', '?')}, {vectors}); load {os.getloadavg()[0]:.1f} at the start"
    )
