"""What breaks in the midst of one request is that request's alone."""

from __future__ import annotations

import resource
import sys

import httpx
import pytest

from tests.reliability.clients import one_trace, without_times
from tests.reliability.faulty import CLOCK, NAN, TOKENIZER
from tests.serving import serving

pytestmark = pytest.mark.timeout(300)

FAULTY = (sys.executable, "-m", "tests.reliability.faulty")


@pytest.fixture(scope="module")
def faulty(tmp_path_factory, tiny_folder):
    folder = tmp_path_factory.mktemp("faulty")
    path = {"TRACEAPP_MODEL_PATH": str(tiny_folder)}
    with serving(folder, program=FAULTY, TRACEAPP_RATE_PER_MINUTE="600", **path) as started:
        yield started


def test_a_fault_ends_one_request(faulty, row):
    """NaN in the logits, an exception in the tokenizer, disk full, clock jumps."""
    with httpx.Client(base_url=faulty.url, timeout=60) as client:

        def trace(prompt="the 2"):
            return client.post("/v1/traces?include=analysis", json=one_trace(prompt=prompt))

        right = trace()
        assert right.status_code == 200

        def serves_the_next():
            return without_times(trace().json()) == without_times(right.json())

        for name, prompt in (("NaN", f"{NAN} 2"), ("tokenizer", f"the {TOKENIZER}")):
            answer = trace(prompt)
            code = answer.json()["error"]["code"]
            row.holds(
                f"{name}: its code, and the next is served",
                f"{answer.status_code} {code}",
                (answer.status_code, code) == (500, "inference_failed") and serves_the_next(),
            )
            assert "Traceback" not in answer.text
        for _ in ("a day ahead", "a day back"):
            jumped = trace(f"{CLOCK} 2")
            row.holds("clock: served", f"{jumped.status_code}", jumped.status_code == 200)
            assert serves_the_next()
        share = {"trace": right.json(), "receipt": right.headers["X-Trace-Receipt"]}
        limits = resource.prlimit(faulty.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(faulty.process.pid, resource.RLIMIT_FSIZE, (0, limits[1]))
        full = client.post("/v1/shared-traces", json=share)
        traced = trace().status_code
        resource.prlimit(faulty.process.pid, resource.RLIMIT_FSIZE, limits)
        stored = client.post("/v1/shared-traces", json=share)
        code = full.json()["error"]["code"]
        row.holds(
            "disk full: its code, traces go on, and the next is stored",
            f"{full.status_code} {code}, {traced}, {stored.status_code}",
            (full.status_code, traced, stored.status_code) == (503, 200, 201),
        )
