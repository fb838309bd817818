"""Shared traces for programs: kept, read and removed, as docs/api.md says."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta

import pytest
from django.core.management import call_command
from django.test import AsyncClient
from django.utils import timezone

from inference.limits import Limits
from tests.traceapp.conftest import error_of
from tests.traceapp.sharing.conftest import HOSTILE, SHARED, set_limits
from traceapp.body_limits import limit_for
from traceapp.models import RemovedTrace, SharedTrace
from traceapp.sharing.store import remove_expired

HEADER = "X-Delete-Token"


async def post(visitor, body):
    return await visitor.post(SHARED, data=body, content_type="application/json")


async def remove(visitor, links, token=None):
    headers = {HEADER: links["delete_token"] if token is None else token}
    return await visitor.delete(f"{SHARED}/{links['id']}", headers=headers)


async def test_a_shared_trace_is_read_as_it_was_to_the_last_character(share, visitor):
    links, trace = await share(prompt=HOSTILE, temperature=1, seed=2**63 - 1)
    response = await visitor.get(f"{SHARED}/{links['id']}")
    assert response.status_code == 200
    body = json.loads(response.content)
    assert body["trace"] == trace
    assert body["trace"]["prompt"] == HOSTILE
    assert body["id"] == links["id"]
    assert body["expires_at"] == links["expires_at"]
    assert response["X-Robots-Tag"] == "noindex"


@pytest.mark.parametrize("prompt", ["x" * 1000, "\0" * 200, "'; DROP TABLE--", "\u202e\ud7ff"])
async def test_every_prompt_that_can_be_traced_can_be_shared(share, visitor, prompt):
    await set_limits(max_prompt_tokens=256)
    if len(prompt) == 1000:  # the tiny tokenizer has few words: 125 of " the cat"
        prompt = " the cat" * 125
    links, trace = await share(prompt=prompt)
    assert json.loads((await visitor.get(f"{SHARED}/{links['id']}")).content)["trace"] == trace


async def test_a_trace_is_stored_with_what_it_was_made_by_and_nothing_about_the_visitor(
    share, visitor
):
    links, trace = await share(temperature=0.7, top_p=0.9, seed=5)
    body = json.loads((await visitor.get(f"{SHARED}/{links['id']}")).content)
    assert body["trace"]["decoding"]["seed"] == 5
    assert body["trace"]["model"] == trace["model"]
    made = body["provenance"]
    assert (made["top_k"], made["max_new_tokens"], made["seed"]) == (2, 3, 5)
    assert made["versions"].keys() == {"token_trace", "torch", "transformers"}
    assert datetime.fromisoformat(made["made_at"]) <= timezone.now()
    row = await SharedTrace.objects.aget()
    assert {field.name for field in row._meta.fields} == {
        *("id", "document", "prompt", "model_alias", "model_repository", "model_revision"),
        *("created_at", "expires_at", "delete_token_hash"),
    }
    assert links["delete_token"] not in str(row.__dict__)
    # Text that PostgreSQL takes: it refuses a NUL, and the document is bytes.
    assert row.prompt == HOSTILE.replace("\0", "␀")
    assert isinstance(row.document, bytes)


async def test_the_links_are_absolute_and_the_token_is_in_the_fragment_alone(share):
    links, _ = await share()
    assert re.fullmatch(r"[A-Za-z0-9_-]{22}", links["id"])
    assert links["url"] == f"http://testserver/t/{links['id']}"
    token = links["delete_token"]
    assert len(token) == 22
    assert links["delete_url"] == f"http://testserver/t/{links['id']}/delete#token={token}"


async def test_a_trace_that_this_server_did_not_make_is_refused(trace, visitor):
    sent = await trace()
    sent["trace"]["steps"][0]["selected_probability"] /= 2
    response = await post(visitor, sent)
    assert response.status_code == 422
    assert error_of(response)["code"] == "invalid_receipt"
    assert not await SharedTrace.objects.aexists()


@pytest.mark.parametrize("missing", ["trace", "receipt"])
async def test_a_field_that_is_missing_is_named(trace, visitor, missing):
    sent = await trace()
    del sent[missing]
    response = await post(visitor, sent)
    assert response.status_code == 422
    assert missing in error_of(response)["message"]


async def test_a_trace_without_its_analysis_cannot_be_shared(server, visitor, trace):
    sent = await trace()
    for step in sent["trace"]["steps"]:
        del step["analysis"]
    assert error_of(await post(visitor, sent))["code"] == "invalid_receipt"


async def test_where_sharing_is_off_nothing_is_kept_and_old_links_still_work(share, trace, visitor):
    links, _ = await share()
    sent = await trace()
    await set_limits(sharing=False)
    response = await post(visitor, sent)
    assert response.status_code == 403
    assert error_of(response)["code"] == "sharing_off"
    assert (await visitor.get(f"{SHARED}/{links['id']}")).status_code == 200
    assert (await remove(visitor, links)).status_code == 204


async def test_the_administrators_days_are_counted_from_the_sharing(share):
    await set_limits(sharing_days=2)
    links, _ = await share()
    row = await SharedTrace.objects.aget()
    assert row.expires_at - row.created_at == timedelta(days=2)
    assert datetime.fromisoformat(links["expires_at"]) == row.expires_at


async def test_sharing_and_removing_count_against_the_rate(trace, share, environment):
    links, _ = await share()
    sent = await trace()
    environment(proxies=1)
    await set_limits(rate_per_minute=1)
    visitor = AsyncClient(headers={"X-Forwarded-For": "192.0.2.72"})  # which no other test is
    assert (await post(visitor, sent)).status_code == 201
    response = await post(visitor, sent)
    assert response.status_code == 429
    assert int(response["Retry-After"]) >= 1
    assert (await remove(visitor, links)).status_code == 429


def test_the_body_of_a_trace_to_share_has_a_bound_of_its_own():
    assert limit_for(SHARED) == 512 * 1024


async def test_removing_twice_is_calm_and_the_trace_is_gone(share, visitor):
    links, _ = await share()
    assert (await remove(visitor, links)).status_code == 204
    assert (await remove(visitor, links)).status_code == 204
    response = await visitor.get(f"{SHARED}/{links['id']}")
    assert response.status_code == 404
    assert error_of(response)["code"] == "not_found"
    assert not await SharedTrace.objects.aexists()


@pytest.mark.parametrize("token", ["", "x", "\u00ff" * 10, "x" * 300])
async def test_another_token_removes_nothing_before_or_after(share, visitor, token):
    links, _ = await share()
    expected = 422 if len(token) > 200 else 403
    assert (await remove(visitor, links, token)).status_code == expected
    assert await SharedTrace.objects.aexists()
    await remove(visitor, links)
    assert (await remove(visitor, links, token)).status_code == expected


@pytest.mark.parametrize("trace_id", ["x", "A" * 22, "%00" * 22, "A" * 5000, "..%2f..%2fetc"])
async def test_an_id_that_never_was_is_404_for_reading_and_removing(server, visitor, trace_id):
    for response in (
        await visitor.get(f"{SHARED}/{trace_id}"),
        await visitor.delete(f"{SHARED}/{trace_id}", headers={HEADER: "x"}),
    ):
        assert response.status_code == 404
        assert error_of(response)["code"] == "not_found"


async def test_nobody_can_list_the_traces(share, visitor):
    await share()
    for path in (SHARED, f"{SHARED}/", "/t/", "/t"):
        assert (await visitor.get(path)).status_code in {404, 405}


async def test_ids_are_drawn_by_chance(share):
    first, _ = await share()
    second, _ = await share()
    shared = sum(a == b for a, b in zip(first["id"], second["id"], strict=True))
    assert shared < 12  # 22 of 64 each: more has odds of one in 10^15


async def test_an_expired_trace_is_gone_on_read_and_cannot_be_removed(share, visitor):
    links, _ = await share()
    await SharedTrace.objects.aupdate(expires_at=timezone.now())
    assert (await visitor.get(f"{SHARED}/{links['id']}")).status_code == 404
    assert not await SharedTrace.objects.aexists()
    assert (await remove(visitor, links)).status_code == 404


@pytest.mark.django_db
def test_the_command_removes_what_is_over_and_leaves_the_rest(capsys):
    now = timezone.now()
    for place, days in enumerate((-1, 0, 1)):
        SharedTrace.objects.create(
            id=f"{place}" * 22, document=b"", created_at=now, expires_at=now + timedelta(days=days)
        )
        RemovedTrace.objects.create(id=f"{place}" * 22, expires_at=now + timedelta(days=days))
    call_command("remove_expired_traces", "--dry-run")
    assert SharedTrace.objects.count() == 3
    call_command("remove_expired_traces")
    assert capsys.readouterr().out.splitlines() == [
        "2 expired traces would be removed",
        "2 expired traces were removed",
    ]
    for model in (SharedTrace, RemovedTrace):
        assert [row.pk for row in model.objects.all()] == ["2" * 22]
    assert remove_expired(now=now + timedelta(days=1)) == 1


async def test_the_limits_say_whether_and_how_long(server, visitor):
    await set_limits(sharing=False, sharing_days=7)
    body = (await visitor.get("/v1/limits")).json()
    assert (body["sharing"], body["sharing_days"]) == (False, 7)
    assert Limits().sharing
