"""Requests made from our own OpenAPI document: every answer is one that the document tells of."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.chat_folder import write_chat_folder
from tests.serving import serving

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
)


@pytest.fixture
def server(tmp_path):
    """A tiny model, for a thousand requests; it chats and may call tools."""
    write_chat_folder(tmp_path / "weights")
    path = {"TRACEAPP_MODEL_PATH": str(tmp_path / "weights")}
    with serving(tmp_path / "data", "--model", "qwen2.5-0.5b-instruct", **path) as started:
        yield started


@pytest.mark.timeout(300)
def test_no_request_is_answered_with_what_the_document_does_not_tell_of(server, tmp_path):
    options = {
        "--checks": ",".join(CHECKS),
        "--phases": "coverage,fuzzing",
        "--max-examples": "20",
    }
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/v1/openapi.json"),
            *("--no-color", "--generation-deterministic"),
            *(word for option in options.items() for word in option),
        ],
        cwd=tmp_path,  # where it keeps what it found
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout
    sent = re.search(r"(\d+) generated, (\d+) passed", ended.stdout)
    assert sent, ended.stdout
    assert sent[1] == sent[2]
    assert int(sent[1]) > 1000
