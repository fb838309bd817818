"""What most tests need: tiny engines, and a runtime in the process's place for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from inference import runtime
from inference.engine.engine import Engine
from inference.runtime import Runtime
from tests.fakes import CARD, scripted_engine, tiny_engine


@pytest.fixture(params=["llama", "qwen2"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """A tiny random model of each family."""
    return tiny_engine(request.param)


@pytest.fixture
def install() -> Iterator[Callable[..., Runtime]]:
    """Serve an engine in this process: `install(engine)`; a string is what its model says.

    `alias` says which model of the catalogue it passes for.
    """
    installed: list[Runtime] = []

    def start(engine: Engine | str, *, alias: str = CARD.alias) -> Runtime:
        made = scripted_engine(engine) if isinstance(engine, str) else engine
        card = CARD if alias == CARD.alias else replace(CARD, alias=alias)
        serving = Runtime(card, lambda: made, on_failure=_unexpected)
        serving.wait_until_loaded()
        installed.append(serving)
        runtime.install(serving)
        return serving

    yield start
    runtime.install(None)
    for serving in installed:
        serving.close()


def _unexpected(error: Exception) -> Any:
    raise error
