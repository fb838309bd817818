"""One real server with the embedded model, for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serving import Server, serving

# Stands in every prompt that these tests send, and so must never stand in the server's log.
MARKER = "my grandmother's maiden name"

LISTED = "https://listed.example"  # a site whose pages may call it


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data_dir = tmp_path_factory.mktemp("server")
    listed = {"TRACEAPP_ALLOWED_ORIGINS": LISTED}
    with serving(data_dir, "--model", "smollm2-135m", **listed) as started:
        yield started
    log = started.log.whole()
    assert "serving smollm2-135m" in log
    assert MARKER not in log
