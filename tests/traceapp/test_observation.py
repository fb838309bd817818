"""/metrics, /metrics/json and the profile's routes, over HTTP."""

from __future__ import annotations

import json

import pytest
from django.test import AsyncClient
from prometheus_client.parser import text_string_to_metric_families

from inference.profiling import Profiler
from tests.fakes import tiny_engine

pytestmark = pytest.mark.django_db(transaction=True)


async def series() -> dict[tuple[str, ...], float]:
    response = await AsyncClient().get("/metrics")
    assert response["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(response.content.decode())
        for sample in family.samples
    }


async def post(path: str, body: object) -> int:
    response = await AsyncClient().post(path, json.dumps(body), content_type="application/json")
    return response.status_code


async def test_a_trace_shows_in_the_metrics(install):
    install(tiny_engine("llama"))
    before = await series()
    assert await post("/v1/traces", {"prompt": "abc", "max_new_tokens": 4}) == 200
    after = await series()
    key = ("token_trace_http_requests_total", "2xx", "traces")
    assert after[key] - before.get(key, 0) == 1
    for name, change in (("prompt_tokens", 3), ("completion_tokens", 4)):
        assert after[f"token_trace_{name}_total",] - before[f"token_trace_{name}_total",] == change
    assert after["token_trace_ready",] == 1


async def test_whatever_callers_name_the_series_stay_the_same(install):
    install("ok")
    # Once each, so that the endpoint's own series are there.
    await post("/v1/completions", {"prompt": "a", "model": "first", "max_tokens": 1})
    await post("/v1/none", {})
    known = set(await series())
    for name in ("other", 'quote"', "new\nline", "x" * 200):
        await post("/v1/completions", {"prompt": "a", "model": name, "max_tokens": 1})
        await post(f"/v1/{name.strip()[:5]}/none", {})
    assert set(await series()) == known


async def test_the_json_carries_the_same_numbers(install):
    install("ok")
    await post("/v1/traces", {"prompt": "abc"})
    text = await series()
    response = await AsyncClient().get("/metrics/json")
    body = json.loads(response.content, parse_constant=pytest.fail)
    assert (body["schema_version"], body["model_name"]) == (1, "smollm2-135m")
    assert body["timestamp"] >= body["started_at"]
    for sample in body["counters"]:
        key = (sample["name"], *sorted(sample["labels"].values()))
        if "metrics" not in key:  # reading the text was itself a request
            assert text[key] == sample["value"]
    assert {h["name"] for h in body["histograms"]} >= {"token_trace_request_seconds"}


async def test_metrics_are_there_without_a_model():
    assert (await series())["token_trace_ready",] == 0
    assert (await AsyncClient().get("/metrics/json")).json()["model_name"] is None


async def test_profiling_is_not_there_unless_the_server_began_with_it():
    for path in ("/start_profile", "/stop_profile"):
        assert await post(path, {}) == 404


async def test_a_recording_is_a_chrome_trace_of_the_models_own_thread(install, tmp_path):
    serving = install(tiny_engine("llama"))
    profiler = Profiler(tmp_path / "profiles")
    await profiler.stop(serving)  # nothing to end, and no harm
    await profiler.start(serving)
    await profiler.start(serving)
    assert await post("/v1/traces", {"prompt": "abc", "max_new_tokens": 2}) == 200
    await profiler.stop(serving)
    await profiler.stop(serving)
    (path,) = (tmp_path / "profiles").iterdir()
    names = {event.get("name", "") for event in json.loads(path.read_text())["traceEvents"]}
    assert any("aten::" in name for name in names)
