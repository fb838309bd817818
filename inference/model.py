"""From settings to a runtime: which weights, checked, then a worker that loads and serves them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from inference import metrics
from inference.engine.implementation import Implementation, implementation_for
from inference.engine.types import ModelCard
from inference.runtime import Runtime
from inference.weights.resolve import Checkpoint, resolve

if TYPE_CHECKING:
    from inference.engine.engine import Engine

logger = logging.getLogger(__name__)


def start_runtime(
    alias: str | None,
    *,
    model_path: Path | None,
    weights_dir: Path,
    threads: int,
    served_name: str | None = None,
    on_failure: Callable[[Exception], None],
) -> Runtime:
    """Find and check the weights, then load them on the runtime's own thread.

    Raises WeightsError where they are missing or wrong; a failure to load them goes to
    `on_failure`, on that thread.
    """
    checkpoint = resolve(alias, model_path=model_path, weights_dir=weights_dir, report=logger.info)
    logger.info("serving %s: %s", checkpoint.model.alias, checkpoint.reason)
    implementation, reason = implementation_for(checkpoint.folder, gguf=checkpoint.gguf)
    logger.info("run by %s: %s", implementation, reason)
    kernels_dir = weights_dir / "kernels"
    card = card_of(checkpoint, implementation, served_name)
    started: Future[Runtime] = Future()

    def load() -> Engine:
        # Imported here, on the thread that will use it, and by no process that only migrates.
        from inference.engine.kernel_check import KernelsDiffer
        from inference.engine.kernels.cache import folder_of
        from inference.engine.loading import load_engine

        begun = time.monotonic()
        if implementation == "kernels" and not folder_of(kernels_dir).exists():
            logger.info("this first start compiles the kernels, which takes up to a minute")
        load_with = partial(
            load_engine,
            checkpoint.folder,
            gguf=checkpoint.gguf,
            kernels_dir=kernels_dir,
            context_length=checkpoint.model.context_length,
            threads=threads,
        )
        try:
            engine = load_with(implementation=implementation)
        except KernelsDiffer as error:
            logger.error("the kernels failed their check, transformers runs the model: %s", error)
            engine = load_with(implementation="transformers")
            started.result().card = replace(card, engine="transformers")
        metrics.LOAD_SECONDS.set(time.monotonic() - begun)
        return engine

    runtime = Runtime(card, load, on_failure=on_failure, observer=metrics.observe)
    started.set_result(runtime)
    return runtime


def card_of(
    checkpoint: Checkpoint, implementation: Implementation, served_name: str | None = None
) -> ModelCard:
    model = checkpoint.model
    return ModelCard(
        alias=model.alias,
        served_name=served_name or model.alias,
        repository=model.repository,
        revision=model.revision,
        source=checkpoint.source,
        dtype=checkpoint.dtype,
        sha256=checkpoint.sha256,
        max_model_len=model.context_length,
        engine=implementation,
        created=int(time.time()),
    )
