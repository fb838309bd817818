"""Kernels that were compiled and kept by one process, used by another."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from numba.core.dispatcher import Dispatcher

from inference.engine import kernels

ROOT = Path(__file__).resolve().parents[3]

# Two compiled objects, each of which holds a kernel that the other has not.
ENTRIES = """
from numba import njit
from inference.engine.kernels import linear

@njit(cache=True)
def by_float32(w, row_bytes, rows, columns, x, x_bytes, vectors, y, y_bytes):
    linear.multiply_float32(w, row_bytes, rows, columns, x, x_bytes, vectors, y, y_bytes)

@njit(cache=True)
def by_bf16(w, row_bytes, rows, columns, x, x_bytes, vectors, y, y_bytes):
    linear.multiply_bf16(w, row_bytes, rows, columns, x, x_bytes, vectors, y, y_bytes)
"""

USE = """
import sys
from pathlib import Path
from inference.engine.kernels.cache import keep_compiled_under

keep_compiled_under(Path("kept"))
import numpy as np
import entries

weights = np.arange(1, 9, dtype=np.float32)
bf16 = (weights.view(np.uint32) >> 16).astype(np.uint16)
x, y = np.ones(8, np.float32), np.zeros(1, np.float32)
for name in sys.argv[1:]:
    w = weights if name == "by_float32" else bf16
    multiply = getattr(entries, name)
    multiply(w.ctypes.data, w.nbytes, 1, 8, x.ctypes.data, 32, 1, y.ctypes.data, 4)
    print(y[0])
"""


def test_an_object_of_one_process_never_runs_a_kernel_of_another_by_its_name(tmp_path):
    (tmp_path / "entries.py").write_text(ENTRIES)

    def results_of(*names):
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", USE, *names],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.split()

    assert results_of("by_float32") == ["36.0"]
    assert results_of("by_bf16") == ["36.0"]
    assert results_of("by_float32", "by_bf16") == ["36.0", "36.0"]


def test_every_kernel_has_a_name_of_its_own():
    modules = [
        importlib.import_module(f"{kernels.__name__}.{module.name}")
        for module in pkgutil.iter_modules(kernels.__path__)
    ]
    compiled = {
        id(value): f"{value.py_func.__module__}.{value.py_func.__qualname__}"
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    }
    names = Counter(compiled.values())
    assert "inference.engine.kernels.linear.multiply_q4" in names
    assert {name for name, times in names.items() if times > 1} == set()
