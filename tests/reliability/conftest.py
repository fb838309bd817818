"""The server under attack, and the table that the run ends with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.inference.weights.tiny import write_folder
from tests.reliability.figures import FIGURES, Row, table
from tests.serving import Server, serving

MARKER = "my grandmother's maiden name"


HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("reliability")


@pytest.fixture
def row(request: pytest.FixtureRequest) -> Row:
    """The row that the test's docstring names."""
    return Row(request.function.__doc__.strip().splitlines()[0].rstrip("."))


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory):
    return write_folder(tmp_path_factory.mktemp("tiny"), architecture="llama")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The embedded model; whatever a module did to it, its log is quiet and holds no prompt."""
    with serving(
        tmp_path_factory.mktemp("server"),
        "--model",
        "smollm2-135m",
        TRACEAPP_DEADLINE_SECONDS="30",
    ) as started:
        yield started
    log = started.log.whole()
    assert "Traceback" not in log
    assert MARKER not in log


@pytest.fixture(scope="module")
def tiny_server(tmp_path_factory: pytest.TempPathFactory, tiny_folder) -> Iterator[Server]:
    """A model of a few kilobytes, where the model does not matter."""
    with serving(
        tmp_path_factory.mktemp("tiny-server"), TRACEAPP_MODEL_PATH=str(tiny_folder)
    ) as started:
        yield started
    assert "Traceback" not in started.log.whole()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if FIGURES:
        terminalreporter.section("reliability")
        terminalreporter.write_line(table(FIGURES))
