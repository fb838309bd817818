"""GET /health, /v1/models and /v1/limits."""

from __future__ import annotations

import asyncio
import time

import pytest
from django.test import AsyncClient

from inference import runtime
from inference.engine.types import GenerationRequest, SamplingParams
from inference.models import LimitsRow
from inference.runtime import PATIENCE_SECONDS, Runtime
from tests.fakes import CARD, scripted_engine
from tests.gates import Clock, Gate, unexpected
from tests.traceapp.conftest import error_of
from tests.traceapp.openai_api import refused

pytestmark = pytest.mark.django_db(transaction=True)

READY = {"status": "ready", "ready": True}
NOT_READY = {"status": "not_ready", "ready": False}


async def get(path):
    return await AsyncClient().get(path)


async def test_health_is_200_and_ready_when_a_trace_would_be_served(install):
    install("fine")
    response = await get("/health")
    assert (response.status_code, response.json()) == (200, READY)


async def test_health_is_503_without_a_model():
    response = await get("/health")
    assert (response.status_code, response.json()) == (503, NOT_READY)


async def test_health_is_503_once_the_server_stops(install):
    install("fine").close()
    response = await get("/health")
    assert (response.status_code, response.json()) == (503, NOT_READY)


async def test_health_asks_the_worker_and_not_a_flag():
    clock, gate = Clock(), Gate()
    engine = scripted_engine("held still", gate=gate)
    serving = Runtime(CARD, lambda: engine, on_failure=unexpected, clock=clock)
    await asyncio.to_thread(serving.wait_until_loaded)
    runtime.install(serving)
    one = GenerationRequest(
        prompt_ids=(1,), max_tokens=1, num_candidates=1, sampling=SamplingParams()
    )
    serving.submit(one, max_waiting=0, deadline=time.monotonic() + 60)
    assert await asyncio.to_thread(gate.reached.acquire, timeout=60)
    busy = await get("/health")
    clock.now += PATIENCE_SECONDS + 1
    stuck = await get("/health")
    gate.open()
    runtime.install(None)
    serving.close()
    assert (busy.status_code, busy.json()) == (200, READY)
    assert (stuck.status_code, stuck.json()) == (503, NOT_READY)


async def test_models_lists_the_one_model_and_what_its_weights_are(install):
    install("fine")
    answer = (await get("/v1/models")).json()
    assert answer.keys() == {"object", "data", "models"}
    assert answer["object"] == "list"
    assert answer["data"] == answer["models"]
    (entry,) = answer["data"]
    assert entry == {
        "id": CARD.alias,
        "object": "model",
        "created": CARD.created,
        "owned_by": "HuggingFaceTB",
        "alias": CARD.alias,
        "repository": CARD.repository,
        "revision": CARD.revision,
        "ready": True,
        "max_model_len": CARD.max_model_len,
        "source": "embedded",
        "dtype": "float32",
        "sha256": CARD.sha256,
        "engine": "transformers",
    }


async def test_one_model_is_shown_by_its_id_and_no_other_is(install):
    install("fine")
    listed = (await get("/v1/models")).json()["data"][0]
    assert (await get(f"/v1/models/{CARD.alias}")).json() == listed
    response = await get("/v1/models/gpt-4")
    assert response.status_code == 404
    error = refused(response, 404)
    assert (error["code"], error["param"]) == ("model_not_found", "model")
    assert CARD.alias in error["message"]


async def test_a_model_that_stopped_is_listed_as_not_ready(install):
    install("fine").close()
    answer = (await get("/v1/models")).json()
    assert [entry["ready"] for entry in answer["models"]] == [False]


async def test_a_process_without_a_model_has_no_list():
    response = await get("/v1/models")
    assert response.status_code == 503
    assert error_of(response)["code"] == "not_ready"


async def test_limits_are_those_of_the_environment_until_an_administrator_saves_some(environment):
    environment(rate_per_minute=7, max_waiting=3, deadline_seconds=4.5)
    contract = {
        "max_prompt_characters": 1000,
        "max_prompt_tokens": 256,
        "max_new_tokens": 32,
        "max_alternatives": 10,
        "max_completion_tokens": 256,
        "max_choices": 8,
    }
    own = {
        "key_required": False,
        "sharing": True,
        "sharing_days": 90,
        "booth_free_text": False,
        "waiting_share": 1,
    }
    limits = (await get("/v1/limits")).json()
    given = {"rate_per_minute": 7, "max_waiting": 3, "deadline_seconds": 4.5}
    assert limits == contract | own | given
    await LimitsRow.objects.acreate(pk=1, max_new_tokens=4, rate_per_minute=0, key_required=True)
    limits = (await get("/v1/limits")).json()
    assert limits["key_required"] is True
    assert limits["waiting_share"] == 8
    assert (limits["max_new_tokens"], limits["rate_per_minute"], limits["max_waiting"]) == (
        4,
        0,
        32,
    )


async def test_limits_do_not_say_who_may_call(environment):
    environment(
        allowed_origins=("https://secret.example",), embed_sites=("https://secret.example",)
    )
    assert b"secret" not in (await get("/v1/limits")).content


@pytest.mark.parametrize("path", ["/health", "/v1/models", "/v1/models/smollm2-135m", "/v1/limits"])
async def test_head_is_get_without_a_body(install, path):
    install("fine")
    response = await AsyncClient().head(path)
    assert (response.status_code, response.content) == (200, b"")
