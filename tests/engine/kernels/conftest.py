"""Compiled kernels are kept between runs of the tests: compiling them takes half a minute."""

from __future__ import annotations

from pathlib import Path

from inference.engine.kernels.cache import keep_compiled_under

keep_compiled_under(Path(__file__).resolve().parents[3] / ".pytest_cache" / "kernels")
