"""A model of a command's own, for as long as the command runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from django.conf import settings
from django.core.management.base import CommandError

from inference.model import start_runtime
from inference.runtime import Runtime


@asynccontextmanager
async def loaded_model(alias: str | None) -> AsyncIterator[Runtime]:
    """The runtime of a model that is loaded. Raises WeightsError or CommandError where none is."""
    env = settings.TRACEAPP
    failures: list[Exception] = []
    serving = start_runtime(
        alias,
        model_path=env.model_path,
        weights_dir=env.weights_dir,
        threads=env.threads,
        on_failure=failures.append,
    )
    try:
        await asyncio.to_thread(serving.wait_until_loaded)
        if failures:
            raise CommandError(f"the model cannot be loaded: {failures[0]}")
        yield serving
    finally:
        serving.close()
