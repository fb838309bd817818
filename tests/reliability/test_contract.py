"""Thousands of requests, of which few make sense."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.chat_folder import write_chat_folder
from tests.reliability.figures import size
from tests.serving import serving

pytestmark = pytest.mark.timeout(3000)

# Where something is read; and a path that nothing has.
POSTS = (
    *("/v1/traces", "/v1/completions", "/v1/chat/completions", "/v1/shared-traces"),
    *("/tokenize", "/detokenize", "/v1/nothing"),
)
DESIGNED = {503, 504}  # not ready, too late
MINE = (None, True, 0, -1, 1, 1.5, 2**63, 1e308, "", "x", "\x00", "\u202e", [], {}, [[]], "9" * 400)

values = st.recursive(
    st.one_of(st.sampled_from(MINE), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
names = st.sampled_from(
    (
        *("model", "prompt", "max_new_tokens", "max_tokens", "temperature", "top_k", "top_p"),
        *("seed", "n", "stop", "logprobs", "messages", "tools", "tool_choice", "response_format"),
        *("min_tokens", "logit_bias", "echo", "trace", "receipt", "tokens", "unknown"),
    )
)
messages = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "system", "tool", "x"]), "content": values}
    ),
    max_size=3,
)
bodies = st.one_of(
    st.dictionaries(names, values, max_size=6),
    st.fixed_dictionaries({"prompt": st.text(max_size=20), "max_new_tokens": st.integers(-1, 3)}),
    st.fixed_dictionaries({"messages": messages, "max_tokens": st.integers(-1, 3)}),
    st.fixed_dictionaries({"prompt": values, "max_tokens": st.integers(-1, 3)}),
    values,
)
raw = st.one_of(
    bodies.map(lambda body: json.dumps(body).encode()),
    bodies.map(lambda body: json.dumps(body).encode()[:-1]),
    st.binary(max_size=60),
    st.sampled_from([b'{"prompt": NaN}', b'{"a":1,"a":2}', b'"\\ud800"', b"[" * 5000, b"\xff"]),
)


@pytest.fixture(scope="module")
def chatting(tmp_path_factory):
    """A tiny model that chats and may call tools."""
    folder = tmp_path_factory.mktemp("contract")
    write_chat_folder(folder / "weights")
    path = {"TRACEAPP_MODEL_PATH": str(folder / "weights")}
    with serving(folder / "data", "--model", "qwen2.5-0.5b-instruct", **path) as started:
        yield started
    assert "Traceback" not in started.log.whole()


def from_the_document(server, folder, examples):
    """How many requests schemathesis made of our own OpenAPI document, and how many it passed."""
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/v1/openapi.json"),
            *("--no-color", "--generation-deterministic", "--phases", "coverage,fuzzing"),
            *("--checks", "not_a_server_error,status_code_conformance,content_type_conformance"),
            *("--max-examples", str(examples)),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    sent = re.search(r"(\d+) generated, (\d+) passed", ended.stdout)
    assert sent, ended.stdout
    return int(sent[1]), int(sent[2])


def test_no_request_breaks_the_server(chatting, tmp_path, row):
    """schemathesis + hypothesis on every route."""
    sent, passed = from_the_document(chatting, tmp_path, size(450, 2))
    statuses = []
    with httpx.Client(base_url=chatting.url, timeout=120) as client:

        @settings(
            max_examples=size(4500, 150),
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        @given(
            st.sampled_from(POSTS), raw, st.sampled_from(["POST", "POST", "POST", "PUT", "DELETE"])
        )
        def ask(path, content, method):
            headers = {"Content-Type": "application/json"}
            answer = client.request(method, path, content=content, headers=headers)
            statuses.append(answer.status_code)
            assert answer.status_code < 500 or answer.status_code in DESIGNED, answer.text
            if answer.status_code >= 400:
                assert answer.json()["error"]["code"], answer.text
            elif "stream" not in answer.headers["Content-Type"]:
                answer.json()

        ask()
        assert client.get("/health").json()["ready"]
    total = sent + len(statuses)
    row.holds(
        f"{size(10_000, 300):,} requests, no 5xx but designed ones, all JSON with a code",
        f"{total:,} ({sent:,} of the document, {sent - passed} not as it says)",
        total >= size(10_000, 300) and sent == passed,
    )
