"""What was typed is in no line that the server writes, whatever became of it."""

from __future__ import annotations

import httpx
import pytest

from tests.server.conftest import MARKER
from tests.serving import serving

pytestmark = pytest.mark.real_model

PROMPT = f"{MARKER} is %s {{x}} \x1b[31m\nERROR forged: line"


def test_no_answer_and_no_refusal_leaves_the_prompt_in_the_log(server):
    with httpx.Client(base_url=server.url, timeout=110) as client:
        send = client.post
        statuses = [
            send("/v1/traces", json={"prompt": PROMPT, "max_new_tokens": 1}).status_code,
            send("/v1/traces", json={"prompt": PROMPT, "max_new_tokens": 99}).status_code,
            send("/v1/traces", json={MARKER: 1, "prompt": PROMPT}).status_code,
            send("/v1/traces", content=f'{{"prompt": "{MARKER}'.encode()).status_code,
            send("/v1/traces", json={"prompt": PROMPT * 10_000}).status_code,
            send("/v1/traces", json={"prompt": PROMPT}, headers={"Origin": "null"}).status_code,
            send("/v1/nothing", json={"prompt": PROMPT}).status_code,
            client.put("/v1/traces", json={"prompt": PROMPT}).status_code,
            client.get("/v1/traces", params={"prompt": PROMPT}).status_code,
            client.get("/", params={"prompt": PROMPT}).status_code,
            client.get(f"/{MARKER}").status_code,
            send("/", data={"prompt": PROMPT, "max_new_tokens": "1"}).status_code,
            send("/", data={"prompt": PROMPT, "max_new_tokens": "99"}).status_code,
            send("/", data={"prompt": PROMPT}, headers={"Host": "elsewhere"}).status_code,
        ]
    assert statuses == [200, 422, 422, 422, 413, 403, 404, 405, 405, 200, 404, 200, 422, 400]
    assert "serving smollm2-135m" in server.log.text
    assert MARKER not in server.log.text
    assert "forged" not in server.log.text


def test_what_times_out_or_comes_too_often_is_not_in_the_log_either(tmp_path):
    given = {"TRACEAPP_DEADLINE_SECONDS": "0.001", "TRACEAPP_RATE_PER_MINUTE": "2"}
    with serving(tmp_path, "--model", "smollm2-135m", **given) as server:
        answers = [
            httpx.post(f"{server.url}/v1/traces", json={"prompt": PROMPT}, timeout=110)
            for _ in range(3)
        ]
    assert [answer.status_code for answer in answers] == [504, 504, 429]
    assert [answer.json()["error"]["code"] for answer in answers] == [
        "timeout",
        "timeout",
        "rate_limited",
    ]
    assert 1 <= int(answers[2].headers["Retry-After"]) <= 60
    assert MARKER not in server.log.whole()
