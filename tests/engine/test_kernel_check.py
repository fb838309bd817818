"""The check at the start: kernels that compute something else are found out."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from inference.engine.kernel_check import KernelsDiffer
from tests.engine.kernels.tiny import FAMILIES, decoder_of, model_of


@pytest.mark.parametrize("family", FAMILIES)
def test_kernels_that_compute_what_they_should_pass(family, tmp_path):
    decoder_of(model_of(family), tmp_path).check()


def test_a_kernel_that_multiplies_by_another_matrix_is_found_out(tmp_path):
    decoder = decoder_of(model_of("llama"), tmp_path)
    addresses = decoder.model.arrays["addresses"]
    addresses[0, [4, 5]] = addresses[0, [5, 4]]  # gate and up
    with pytest.raises(KernelsDiffer, match="the first layer: logits are off by"):
        decoder.check()


def test_a_number_that_is_not_finite_is_found_out_in_any_layer(tmp_path):
    decoder = decoder_of(model_of("qwen2"), tmp_path)
    decoder.model.arrays["mlp_norm"][2, 5] = np.nan
    with pytest.raises(KernelsDiffer, match="not finite"):
        decoder.check()


def test_a_closed_team_leaves_no_thread_behind(tmp_path):
    decoder = decoder_of(model_of("llama"), tmp_path, threads=3)
    before = {thread for thread in threading.enumerate() if thread.name == "kernels"}
    decoder.close()
    after = {thread for thread in threading.enumerate() if thread.name == "kernels"}
    assert len(before - after) == 2
