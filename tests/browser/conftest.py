"""Chromium, and the real server with the embedded model that it visits."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.other_site import OtherSite
from tests.held import PROGRAM, RunGate
from tests.serving import serving

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The Chromium of CHROMIUM or of this machine, silent: it asks no host but the server."""
    named = os.environ.get("CHROMIUM")
    found = named or next((path for name in NAMES if (path := shutil.which(name))), None)
    assert found, "no Chromium on this machine; `make test-browser` brings one"
    return browser_type_launch_args | {
        "executable_path": found,
        "args": [
            "--no-sandbox",  # which Chromium needs of root
            "--disable-gpu",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
        ],
    }


@pytest.fixture(scope="session")
def course() -> Iterator[OtherSite]:
    """A second site, on another port of this machine."""
    with OtherSite() as site:
        yield site


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, course: OtherSite) -> Iterator[str]:
    """The address of a real server, whose pages for frames that second site may show."""
    data_dir = tmp_path_factory.mktemp("server")
    with serving(
        data_dir, "--model", "smollm2-135m", TRACEAPP_EMBED_SITES=course.listed
    ) as started:
        yield started.url


@pytest.fixture(scope="session")
def run_gate() -> Iterator[RunGate]:
    with RunGate() as gate:
        yield gate


@pytest.fixture(scope="session")
def held_server(tmp_path_factory: pytest.TempPathFactory, run_gate: RunGate) -> Iterator[str]:
    """The address of a real server whose every run waits at `run_gate` after three steps."""
    with serving(
        tmp_path_factory.mktemp("held"),
        *("--model", "smollm2-135m"),
        program=PROGRAM,
        **run_gate.variables,
    ) as started:
        yield started.url
