"""A server whose kernels fail their check at the start still serves, by transformers."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from inference.engine import loading
from inference.engine.kernel_check import KernelsDiffer
from inference.engine.kernel_decoder import KernelDecoder
from inference.engine.kernels.cache import folder_of
from inference.model import start_runtime
from tests.inference.weights.tiny import write_folder

KEPT = Path(__file__).resolve().parents[2] / ".pytest_cache" / "kernels"


@pytest.mark.parametrize(("differ", "engine"), [(False, "kernels"), (True, "transformers")])
def test_kernels_that_fail_their_check_give_way_to_transformers(
    differ, engine, tmp_path, monkeypatch, caplog
):
    def check(decoder):
        if differ:
            raise KernelsDiffer("the first layer: logits are off by 3")

    monkeypatch.setattr(KernelDecoder, "check", check)
    KEPT.mkdir(parents=True, exist_ok=True)
    (tmp_path / "kernels").symlink_to(KEPT)  # compiling them takes ten seconds and more
    failures: list[Exception] = []
    with caplog.at_level(logging.ERROR, "inference.model"):
        runtime = start_runtime(
            None,
            model_path=write_folder(tmp_path / "tiny", architecture="llama"),
            weights_dir=tmp_path,
            threads=1,
            on_failure=failures.append,
        )
        runtime.wait_until_loaded()
    runtime.close()
    assert failures == []
    assert runtime.card.engine == engine
    assert runtime.engine.encode("x")
    assert ("the first layer: logits are off by 3" in caplog.text) is differ


@pytest.mark.parametrize("compiled", [False, True])
def test_a_start_says_that_it_compiles_where_this_version_has_nothing_compiled(
    compiled, tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr(loading, "load_engine", lambda *_args, **_kwargs: object())
    (tmp_path / "kernels" / "0123456789abcdef").mkdir(parents=True)  # of an older version
    if compiled:
        folder_of(tmp_path / "kernels").mkdir()
    with caplog.at_level(logging.INFO, "inference.model"):
        runtime = start_runtime(
            None,
            model_path=write_folder(tmp_path / "tiny", architecture="llama"),
            weights_dir=tmp_path,
            threads=1,
            on_failure=lambda error: None,
        )
        runtime.wait_until_loaded()
    runtime.close()
    assert ("this first start compiles the kernels" in caplog.text) is not compiled
