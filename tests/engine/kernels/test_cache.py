"""Kernels that were compiled and kept by one process, used by another."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numba
from numba.core.dispatcher import Dispatcher

from inference.engine import kernels
from inference.engine.kernels.cache import folder_of, keep_compiled_under

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


def test_a_new_version_drops_all_but_the_folders_that_were_used_last(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")  # put back afterwards
    others = [tmp_path / f"{number:016x}" for number in range(4)]
    for age, folder in enumerate([*others, tmp_path / "notes"]):
        (folder / "inside").mkdir(parents=True)
        os.utime(folder, (1_000_000 - age, 1_000_000 - age))
    assert not folder_of(tmp_path).exists()
    keep_compiled_under(tmp_path)
    assert str(folder_of(tmp_path)) == numba.config.CACHE_DIR
    left = {folder_of(tmp_path), *others[:2], tmp_path / "notes"}
    assert set(tmp_path.iterdir()) == left


def test_a_folder_that_is_there_counts_as_used_by_each_start(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    keep_compiled_under(tmp_path)
    os.utime(folder_of(tmp_path), (1, 1))
    (tmp_path / "0123456789abcdef").mkdir()
    keep_compiled_under(tmp_path)
    assert folder_of(tmp_path).stat().st_mtime > 1
    assert (tmp_path / "0123456789abcdef").exists()
