"""What clients are told while the database is away: 503 where it is needed, and nothing else."""

from __future__ import annotations

import json

import pytest
from django.db import InterfaceError, OperationalError
from django.test import AsyncClient, Client

from inference import models
from inference.limits import Limits
from tests.fakes import tiny_engine
from tests.sockets import Socket
from tests.traceapp.conftest import error_of

KEY = f"tt_{'x' * 43}"
NO_TRACE = "A" * 22


@pytest.fixture
def away(install, unlimited):
    """A server that has been asked before, whose database now fails at every query."""
    install(tiny_engine("llama"))

    def fail(*arguments, **options):
        raise OperationalError("could not connect to 10.0.0.1 as trace")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(models, "_last_known", Limits(rate_per_minute=0))
        patched.setattr("django.db.models.sql.compiler.SQLCompiler.execute_sql", fail)
        patched.setattr("django.db.models.sql.compiler.SQLInsertCompiler.execute_sql", fail)
        yield


@pytest.fixture
def visitor():
    return AsyncClient(raise_request_exception=False)


async def test_what_needs_the_database_is_503_in_the_dialect_of_its_path(away, visitor):
    shared = await visitor.get(f"/v1/shared-traces/{NO_TRACE}")
    assert shared.status_code == 503
    assert int(shared["Retry-After"]) > 0
    assert error_of(shared)["code"] == "storage_unavailable"
    assert "the database" in error_of(shared)["message"]
    headers = {"Authorization": f"Bearer {KEY}"}
    for path in ("/v1/completions", "/v1/chat/completions"):
        asked = await visitor.post(
            path, {"prompt": "a"}, content_type="application/json", headers=headers
        )
        body = json.loads(asked.content)
        assert (asked.status_code, body["object"]) == (503, "error")
        assert (body["error"]["type"], body["error"]["code"]) == (
            "server_error",
            "storage_unavailable",
        )
        assert int(asked["Retry-After"]) > 0
    embedded = await visitor.get(
        "/oembed", {"url": f"http://testserver/t/{NO_TRACE}", "format": "json"}
    )
    assert (embedded.status_code, error_of(embedded)["code"]) == (503, "storage_unavailable")


async def test_what_needs_the_model_alone_goes_on(away, visitor):
    trace = {"prompt": "the", "max_new_tokens": 1}
    assert (
        await visitor.post("/v1/traces", trace, content_type="application/json")
    ).status_code == 200
    assert (await visitor.post("/", {"example": "pattern"})).status_code == 200
    for path in ("/", "/embed", "/health", "/v1/limits", "/v1/models"):
        assert (await visitor.get(path)).status_code == 200


@pytest.mark.parametrize(
    "path", [f"/t/{NO_TRACE}", f"/t/{NO_TRACE}/delete", f"/embed/t/{NO_TRACE}"]
)
async def test_a_page_that_needs_it_says_so_calmly(away, visitor, path):
    answer = await visitor.get(path)
    assert answer.status_code == 503
    assert int(answer["Retry-After"]) > 0
    page = answer.content.decode()
    assert "Not now" in page
    assert "10.0.0.1" not in page
    assert ("X-Frame-Options" in answer) is not path.startswith("/embed")


def test_the_admin_site_says_so_calmly_whoever_asks(away):
    visitor = Client(raise_request_exception=False)
    visitor.cookies["sessionid"] = "a" * 32
    for answer in (
        visitor.get("/admin/"),
        visitor.post("/admin/login/", {"username": "ada", "password": "wrong"}),
    ):
        assert answer.status_code == 503
        assert "Not now" in answer.content.decode()


async def test_a_page_that_fails_for_another_reason_is_still_a_500(away, visitor, monkeypatch):
    async def fail(*arguments):
        raise RuntimeError("ours")

    monkeypatch.setattr("traceapp.sharing.store.find", fail)
    assert (await visitor.get(f"/t/{NO_TRACE}")).status_code == 500
    assert (await visitor.get(f"/v1/shared-traces/{NO_TRACE}")).status_code == 500


async def test_an_error_that_no_query_of_ours_expected_is_503_too(away, visitor, monkeypatch):
    async def fail(*arguments):
        raise InterfaceError("connection already closed")

    monkeypatch.setattr("traceapp.sharing.store.find", fail)
    assert (await visitor.get(f"/t/{NO_TRACE}")).status_code == 503
    answer = await visitor.get(f"/v1/shared-traces/{NO_TRACE}")
    assert error_of(answer)["code"] == "storage_unavailable"


async def test_a_socket_runs_on_and_one_with_a_key_that_cannot_be_looked_up_is_refused(away):
    socket = Socket()
    assert await socket.open()
    assert (await socket.hear())["type"] == "hello"
    await socket.leave()
    with_key = Socket(authorization=f"Bearer {KEY}")
    assert not await with_key.open()
    assert with_key.code == 4503
